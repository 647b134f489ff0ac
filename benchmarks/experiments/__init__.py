"""How far the statistics of experiments keep what docs/statistics.md claims, by simulation."""
