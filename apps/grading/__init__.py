"""Marks and suggestions, and how far they agree. So far: the agreement of a file of points (`manage.py agreement`)."""
