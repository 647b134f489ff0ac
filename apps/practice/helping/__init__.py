"""Help for one text: the rules, the formula check, hints, comparing with a solution, requests to a model."""
