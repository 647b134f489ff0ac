"""AlphaApollo: models that act in turns with tools, and evolve solutions over rounds with a memory.

params · conversing (turns) · retrieving (documentation) · memory · evolving (rounds) · offer (its declaration).
Source: AlphaApollo §2.1, §2.3, App. B, D (reasoning notes §8).
"""
