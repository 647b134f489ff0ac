"""Shared parts of scaffolds that compare whole solutions: asking, drafting, judging, ranking, tournaments."""
