"""Nexus: memory for AI agents and the people they work with."""
