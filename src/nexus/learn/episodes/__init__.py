"""Episodes: stretches of time told in a few sentences, place by place.

A thread (closed, or fifty messages of it) and a session (an hour of silence ends it) are told from
their events; a day from its threads and sessions; a week from its days. An episode rests on what it
was told from, so it is read where all of that may be read, and goes when any of it is forgotten.
"""

from .job import Episodes, learn_episodes
from .narrating import Narrator
from .splitting import Piece, pieces

__all__ = ["Episodes", "Narrator", "Piece", "learn_episodes", "pieces"]
