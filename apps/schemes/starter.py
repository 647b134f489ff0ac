"""What an empty editor begins with: a scheme that passes the checks and shows every kind of line."""

STARTER = """scale 7
step 1

chain A: Name of the first approach
chain B: Name of another approach

checkpoint S1, 1 point: What helps in every approach.

checkpoint A1, 2 points, chain A: The first idea.
  note: Only markers see this.

checkpoint A2, 4 points, chain A, needs A1: Carries the idea through.

checkpoint B1, 3 points, chain B: The idea of the other approach.

checkpoint B2, 3 points, chain B, needs B1: Carries it through.

zero-credit Z1: Small cases alone.

deduction D1, 1 point: A slip that is easily mended.

cap K5, at most 5: A case is missing.
"""
