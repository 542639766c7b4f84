"""Questions in conversation: turns that are read, signs of dependence, and their resolution."""
