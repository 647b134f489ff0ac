"""Hints written by a model: from what its rung may read and nothing else, tested before a coach sees it. Pure.

| module | what |
|---|---|
| `material` | all there is to write from, and what of it a rung may read |
| `writer` | the calls: the hint, its leak tests, one level less where it tells too much |
"""
