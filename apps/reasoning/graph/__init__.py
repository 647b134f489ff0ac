"""The lemma graph: a pure fold over events, with the questions people ask of it and its export formats."""
