"""Evaluation: retrieval quality on public benchmarks, measured through the public API."""
