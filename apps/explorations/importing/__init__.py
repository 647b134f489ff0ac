"""Reading runs that were made elsewhere: each format becomes a `Story` of our own events, and one writer records it."""
