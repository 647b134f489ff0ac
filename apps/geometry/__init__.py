"""Statements of plane geometry in the language JGEX: their reading, figures, numerical check, and the engine that proves.

It uses only the standard library and mpmath. A statement is read (`statement`), placed at random (`configurations`), tested on
200 configurations (`checking`) and drawn (`drawing`). `engine` runs newclid in an environment of its own.
Constructions and predicates are those of newclid 3.0.1 (Apache-2.0, https://github.com/Newclid/Newclid).

Not here: formulas in proofs (`apps.mathcheck`), the page (`apps.problems.views.geometry`).
"""
