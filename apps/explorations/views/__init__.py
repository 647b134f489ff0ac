"""Views of explorations: start, watch, read, steer, export; lists of runs and models."""
