"""Compose: turn memories into a context for a model, within a token budget."""
