"""Reading what models wrote: strictly, from the answer alone, and with `Unscored` wherever nothing can be read."""
