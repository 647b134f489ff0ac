"""Patterns of words that may restrict a name, for `restrained.py`."""

import re

#: Words that open a clause with a condition.
OPENS = re.compile(
    r"""\b(?:let(?!\s+us\b)|suppos\w+|assum\w+|if|when(?:ever)?|provided|unless|until|as\s+long\s+as|such\s+that|so\s+that|satisf\w+
    |fulfil\w*|where|(?<!the\s)(?<!our\s)(?<!this\s)given|hypothes\w+|constraint\w*|subject\s+to|whose|otherwise|else|(?:sub-?)?cases?
    |equalit\w+|remain(?:s|ing)?(?!\s+to\s)|only|except\w*|wlog|generality|restrict\w*|from\s+(?:now|here)\s+on|instead|exclud\w*
    |solv\w+|unknowns?|systems?|solutions?|fix|pick|choos\w+|chosen|consider\w*|minim\w+|maxim\w+|smallest|largest|greatest|extrem\w+
    |sufficiently|enough|eventually|normali[sz]\w+|homogen\w+|rule\s+out|alternatively|possibilit\w+|(?<!to\s)say|example|instance
    |tr(?:y|ies|ying)|domain|(?:hold|valid|true)s?\s+for
    |for(?=\s+(?:(?:all|any|every|each|arbitrary|(?:non-?)?(?:negative|zero)|positive|real|rational|odd|even|prime|large|small|integers
    |reals|primes|(?:the|an)\s+(?:integer|real))\b|⟦)))\b""",
    re.IGNORECASE | re.VERBOSE,
)
#: "For all reals $x$, $y$" ends with the names, unless words follow that may belong to them.
LISTED = re.compile(
    r"""for\s[^⟦,;:.]*⟦\d+⟧(?:\s*(?:,\s*and|,|and)\s*⟦\d+⟧)*
    (?=\s*(?:$|[.;:]|,?\s*⟦|,?\s*(?:we|the(?!\s+same)|it|this|there|an?|by|then|so|already)\b))""",
    re.IGNORECASE | re.VERBOSE,
)
ENDS = re.compile(
    r"""[;:]|(?:,\s*)?\b(?:then|so|hence|thus|therefore|(?<!that\s)we(?!\s+(?:may\s+)?(?:assume|suppose))|it\s+(?:follows|holds)|because|since
    |(?<=,\s)which|one|consequently|accordingly)\b""",
    re.IGNORECASE | re.VERBOSE,
)
#: Words after a name that belong to it: "$n$ from $1$ to $3$", "$a,b$ with sum $1$".
ATTACHED = re.compile(
    r"⟦(\d+)⟧\s*,?\s*(?:with|having|whose|under|of|from|in|on|among|between|not|both|all|each)\b[^⟦.;]*", re.IGNORECASE
)
#: Several names at once, or names that a clause does not write.
OTHERS = re.compile(
    r"\b(?:they|them|their|th[eo]se|both|all|each|every|numbers?|integers?|reals?|values?|variables?|others?|it|its|such|pairs?|triples?)\b",
    re.IGNORECASE,
)
#: "Its square is two", "they are odd", "exchange them": words about names that an earlier sentence wrote.
DESCRIBES = re.compile(
    r"""\b(?:it|they|its|their|both|these|those|them|(?<!of\s)the\s+(?:numbers?|integers?|two|three|first|second|third|last|former
    |latter|larger|smaller|sum|product|variables?|values?))\b(?!\s+(?:is|are)\s+(?:clear|known|easy|obvious|well))[^⟦,.;:]*
    \b(?:is|are|equals?|has(?!\s+to)|have(?!\s+to))\b
    |^\W*(?!\w+ing\b)\w+\s+(?:them|it|both|these|those)\b|\b(?:allowed|permitted|forbidden|admitted)\b""",
    re.IGNORECASE | re.VERBOSE,
)
#: Neutral words that describe a number if a clause has them outside a declaration: "for all squares $n$".
KINDS = re.compile(
    r"""\b(?:squares?|cubes?|powers?|multiples?|products?|sums?|differences?|fractions?|polynomials?|terms?|roots?|coefficients?
    |divisible|divides|congruent|remainders?|triangles?|equal|same|lengths?|sides?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
HARMLESS = re.compile(r"\b(?:for\s+some|some|fulfils?|obeys?|there\s+(?:is|are)|exists?)\b", re.IGNORECASE)
EQUALITY = re.compile(r"equalit", re.IGNORECASE)
LOOKS_BACK = re.compile(r"\b(?:such(?!\s+that)|these|those|this|said|here|again|above|both|same)\b", re.IGNORECASE)
INTRODUCES = re.compile(r"(?:let|suppos|assum|if|for|given|fix|consider|choos|pick|where|wlog|generality)", re.IGNORECASE)
SATISFIES = re.compile(r"(?:satisf|fulfil)", re.IGNORECASE)
SEARCHES = re.compile(r"\b(?:find|determine|which|how\s+many|solve)\b", re.IGNORECASE)
