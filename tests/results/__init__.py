"""Releases, results, appeals, hints and revisions, and no early insight for students."""
