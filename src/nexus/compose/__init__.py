"""Memory becomes text for a model: plan → sections → budget → render."""
