"""The export of rows and the trainer."""
