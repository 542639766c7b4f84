"""Episodes: short summaries of threads, sessions, days and weeks of one scope.

A thread ends when it is closed or has fifty messages, a session after an hour of silence. Both are
summarized from their events, a day from its threads and sessions, a week from its days. The sources
of an episode decide who may read it, and it is erased with any of them.
"""

from .boundaries import Segment, split_segments
from .job import EpisodeJob, refresh_episodes
from .model_written import ModelSummarizer

__all__ = ["EpisodeJob", "ModelSummarizer", "Segment", "refresh_episodes", "split_segments"]
