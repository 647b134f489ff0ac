"""Tables of the five papers as filled forms: one TOML file a paper, and what reads them.

Not here: the forms (`solving/forms.py`, `forms.py`), and results of the papers, which we do not repeat.
"""
