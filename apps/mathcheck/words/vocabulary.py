"""Words that add no condition. A sentence of only these words is fully read; any other word may hide a condition."""

import re

_NEUTRAL_WRITTEN = r"""
    s subsets rule rules stick series summation may
    a an and any all are as arbitrary be being because both but by can clearly claim clear compute consequently
    consider define defined denote each easily equal equality equals every expand expanding factor factoring
    factorisation factorization find first finally fixed follows following for formula from function further furthermore
    get gets give gives given giving have has hence here holds however identity if implies in indeed inequality into is
    it its know let lets means moreover namely natural negative next nonnegative non nonzero note notice now number
    numbers observe obtain obtained obtains of on one our over particular positive prime primes real reals rational
    integer integers recall rearranging result rewrite right left hand side sides satisfy satisfies satisfying
    second see set show shows simplify simplifies simplifying simply since so square strictly such sum sums that
    the their then there therefore these they this thus to together triangle true two three four using use valid value
    values variables we well where whence which with write writing yield yields odd even nonpositive distinct different
    holds namely also always us both sides multiplying dividing adding subtracting squaring out terms term product
    products step we've expression expressions becomes become cauchy schwarz am gm hm qm means arithmetic
    geometric harmonic quadratic mean jensen bernoulli nesbitt schur minkowski holder titu lemma inequality's weighted
    triangle's identity's binomial theorem newton vandermonde pascal hockey stick telescoping induction completing
    completes derivative differentiate differentiating derivatives coefficient coefficients direct computation
    calculation calculate calculating algebra elementary known well-known standard classical gauss sophie germain
    lagrange euler fermat little divisible divides multiple modulo mod congruent congruence remainder length
    lengths suppose assume put greater less larger smaller whenever when evaluates evaluate evaluating i e
    take taking new old last apply applying applied consecutive's basic add up collect collecting like powers power
    polynomial long division root roots's cube cubes squares difference differences whole immediate immediately
    straightforward check checks verify verified easy trivial trivially obvious obviously it's total totals proof step
    base case's remark fact facts true more precisely words that's hold real-valued logarithm sine cosine angle
    double addition summing splitting split partial fraction fractions denominators common denominator numerator
    clearing cancel cancelling cancels cancellation rationalising rationalizing conjugate
"""
_NEUTRAL = frozenset(_NEUTRAL_WRITTEN.split())
_UNIVERSAL = re.compile(
    r"\b(?:for|given|to)\s+(?:all|any|every|each|arbitrary)\b|\bfor\s+(?:\w+\s+)*(?:reals?|integers?|numbers?)\b|\\forall", re.I
)
_RESTRICTIVE = re.compile(
    r"\b(?:odd|even|primes?|distinct|different|multiple|divisible|divides|greater|less|larger|smaller|positive|negative"
    r"|non-?negative|non-?zero|triangle(?!\s+inequality)|coprime)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(AM\s*[-–—/]+\s*GM|AM\s*[-–—]+\s*HM|GM\s*[-–—]+\s*HM|QM\s*[-–—]+\s*AM|RMS|Cauchy|Titu|Nesbitt|Schur|Muirhead"
    r"|power[- ]mean"
    r"|arithmetic\s+(?:and|mean)|inequality\s+of\s+(?:the\s+)?means|rearrangement)",
    re.IGNORECASE,
)


_EQUIVALENT = re.compile(r"\b(?:exactly|precisely)\s+(?=(?:when|if)\b)")


def is_read(words: str) -> bool:
    """Whether every word of a sentence is neutral."""
    spelled = _EQUIVALENT.sub("", words.lower().replace("non-", "non").replace("’", "'"))
    return all(word in _NEUTRAL or _split(word) for word in re.findall(r"[a-z]+(?:-[a-z]+)*", spelled))


def _split(word: str) -> bool:
    return "-" in word and all(part in _NEUTRAL for part in word.split("-"))


def is_restricted(words: str) -> bool:
    """Whether the words left after all declarations restrict a name."""
    return _RESTRICTIVE.search(words) is not None


def is_universal(words: str) -> bool:
    """Whether the sentence is about all values: "for all real x"."""
    return _UNIVERSAL.search(words) is not None


def named_inequality(words: str) -> str:
    """The named inequality that a sentence cites, or nothing."""
    found = _NAMED.search(words)
    return found[1] if found else ""
