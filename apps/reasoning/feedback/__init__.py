"""Feedback in levels ("rungs"): what each may contain and read, when the next one opens, and leak tests. Pure.

| module | what |
|---|---|
| `ladder` | the rungs of both tracks, their sources, the gates between them |
| `leaks` | a test of a text for secrets that must not be revealed yet |
| `guessing` | how close a guess comes to a solution, with a hint and without |
"""
