"""Formulas: from TeX to tokens, expressions and relations, with every reading of ambiguous notation."""
