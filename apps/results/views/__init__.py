"""Pages of results: `release` for organisers, `own` for authors, `appeals`, `feedback` and `revision` for both."""
