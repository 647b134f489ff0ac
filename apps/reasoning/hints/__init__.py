"""Hints written by a model from the material of their rung only, and tested before a coach sees them. Pure.

| module | what |
|---|---|
| `material` | the material for hints, and the part that each rung may read |
| `writer` | the calls: the hint, its leak tests, and a lower level if it reveals too much |
"""
