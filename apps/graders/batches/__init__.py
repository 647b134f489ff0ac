"""Gradings without a page: the scripts of a file or a contest, their journals, and the output of `manage.py grade`."""
