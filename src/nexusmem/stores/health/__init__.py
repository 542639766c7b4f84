"""Health checks of `nexus doctor`: read-only, with timeouts."""
