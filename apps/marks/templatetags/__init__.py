"""Template tags of marking."""
