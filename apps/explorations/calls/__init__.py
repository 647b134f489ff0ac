"""Recorded calls: the log, one call with what was read from it, its prompt in sections, rates of tools."""
