"""Final answers: found in a text, read as mathematics, compared with three outcomes. The door is `comparison.py`."""
