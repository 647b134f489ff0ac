"""Views of the library: `reading`, `writing`, and `files` (import and export)."""
