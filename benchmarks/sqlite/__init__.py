"""Whether SQLite keeps what is committed."""
