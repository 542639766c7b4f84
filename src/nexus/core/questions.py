"""Questions that are asked for good: where they stand in the metadata of an event."""

QUESTION = "question"
