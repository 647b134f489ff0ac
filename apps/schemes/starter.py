"""Starter scheme of the editor: valid, with an example of each kind of line."""

STARTER = """scale 7
step 1

chain A: Name of the first approach
chain B: Name of another approach

checkpoint S1, 1 point: A step that helps in every approach.

checkpoint A1, 2 points, chain A: The first idea.
  note: Only markers see this.

checkpoint A2, 4 points, chain A, needs A1: Completes the first approach.

checkpoint B1, 3 points, chain B: The idea of the other approach.

checkpoint B2, 3 points, chain B, needs B1: Completes the other approach.

zero-credit Z1: Small cases alone.

deduction D1, 1 point: A minor error.

cap K5, at most 5: A case is missing.
"""
