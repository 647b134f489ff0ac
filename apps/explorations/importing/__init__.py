"""Import of runs that were made elsewhere: each format becomes an `ImportedRun` of our events, and one writer records it."""
