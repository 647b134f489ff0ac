"""Read the answers of models: strictly, from the answer alone, with `Unscored` for everything that is unreadable."""
