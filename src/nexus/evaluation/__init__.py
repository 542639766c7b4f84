"""How much Nexus finds, measured on public benchmarks through the path applications use."""
