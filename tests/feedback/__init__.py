"""The core of hints: the ladder's gates and the test for revealing too much."""
