"""Backup and restore of an installation: the database, and the folders that its rows name (docs/backup.md)."""
