"""Pages of scans, for organisers who may read the roster."""
