"""Scripts that run in inspect-ai's environment (`make test-inspect`); tests of experiments exchange logs with them."""
