"""Texts of users and models as LaTeX, with formulas that compile.

| module | content |
|---|---|
| `symbols` | characters and commands of LaTeX, from the table of latex2mathml |
| `formulas` | a TeX formula of a page as LaTeX, or None if it may not compile |
| `prose` | the tree of `apps.ui.typeset.prose` as LaTeX, and the preamble that it needs |
"""
