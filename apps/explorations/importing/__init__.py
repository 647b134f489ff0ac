"""Import of runs that were made elsewhere: each format becomes a `Story` of our events, and one writer records it."""
