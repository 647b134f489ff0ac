"""Many submissions at once: `files` reads archives safely, `shapes` knows layouts, `plans` says what would go in."""
