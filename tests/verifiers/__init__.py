"""Scaffolds played by the library verifiers (`make test-verifiers`): tests, and scripts that run in its environment."""
