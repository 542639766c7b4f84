"""Weights of the relevance models, written by `bench/fit_relevance.py`."""

from __future__ import annotations

import numpy as np

from .relevance import RelevanceWeights

HIT_WEIGHTS = (
    0.1492,  # keyword
    -2.0274,  # wording
    7.4653,  # coverage
    0.0093,  # exact
    0.5874,  # margin
    0.1439,  # below best
    0.2521,  # missing
    -0.6061,  # best coverage
    0.3187,  # best keyword
    -1.1639,  # speaker
    0.7966,  # timeline
    -0.0810,  # answers
    -0.2007,  # asks
    -0.3940,  # time
    0.3969,  # number
    0.0255,  # name
    0.1049,  # oneself
    0.1143,  # names a person
    0.0627,  # length
    1.7750,  # sum
)
QUESTION_WEIGHTS = (
    2.7049,  # covered
    1.9861,  # worst piece
    -0.0729,  # pieces without match
    -0.2263,  # pieces without exact match
    -7.2000,  # best coverage
    2.4395,  # best coverage with neighbours
    -4.0467,  # mean coverage of five
    6.3878,  # best coverage of rare pieces
    0.0663,  # best worst piece
    -2.9190,  # heaviest piece
    -0.0812,  # pieces
    0.3619,  # first
    -1.8978,  # second
    -0.0624,  # sum of five
    0.0860,  # logarithm of first
    1.2005,  # best keyword
    2.4868,  # best wording
    -0.3940,  # length
    -0.1791,  # names a person
    -0.8083,  # asks for number
    -0.2794,  # asks for money
    0.0166,  # asks for name
    0.6604,  # asks for person
    -0.2069,  # asks for place
    0.0079,  # asks for time
    0.7614,  # asks for inference
    0.3624,  # asks for reason
    0.3172,  # asks for yes or no
    0.4527,  # asks for what
    0.1683,  # asks for list
    1.6268,  # coverage by the person
    -0.0049,  # coverage by others
    3.0975,  # first of the person
    -1.4115,  # first of others
    3.1244,  # number with a value
    7.5926,  # number without a value
    28.6509,  # money with a value
    -3.8366,  # money without a value
    -2.1641,  # name with a value
    -4.8133,  # name without a value
    -2.5075,  # person with a value
    -1.3986,  # person without a value
    2.2836,  # place with a value
    -1.6063,  # place without a value
    0.2023,  # first person
    0.0863,  # size
    -0.8840,  # size × covered
    -1.5301,  # size × worst piece
    0.8500,  # size × pieces without match
    -0.1958,  # size × pieces without exact match
    -1.4660,  # size × best coverage
    1.0145,  # size × best coverage with neighbours
    -1.0539,  # size × mean coverage of five
    0.8685,  # size × best coverage of rare pieces
    -1.4659,  # size × best worst piece
    -1.7802,  # size × heaviest piece
    0.0311,  # size × pieces
    0.6395,  # size × first
    1.5416,  # size × second
    0.2895,  # size × sum of five
    -0.0232,  # size × logarithm of first
    1.6420,  # size × best keyword
    -0.8672,  # size × best wording
    -0.0904,  # size × length
    -0.3772,  # size × names a person
)
RELEVANCE_WEIGHTS = RelevanceWeights(
    hit_bias=-6.9645,
    hit=np.array(HIT_WEIGHTS),
    question_bias=-2.1554,
    question=np.array(QUESTION_WEIGHTS),
    min_answerable=0.170,
)
