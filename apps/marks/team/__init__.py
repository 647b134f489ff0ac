"""The team that marks a contest: who marks what, how far it is, and decisions on many scripts at once."""
