"""How far two markers agree: pure statistics over pairs of points. docs/agreement.md explains each to people.

`agree(pairs, scale)` is the door; `statistics` and `chance` hold the formulas with their sources.
"""
