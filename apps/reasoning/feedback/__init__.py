"""Feedback by rungs: what each rung may say and read, when the next one opens, and whether a rung tells too much. Pure.

| module | what |
|---|---|
| `ladder` | the rungs of both tracks, their sources, the gates between them |
| `leaks` | a test of a text against what must not be told yet |
| `guessing` | how near somebody's guess comes to a solution, with a hint and without |
"""
