"""The role of a formula in its sentence: assertion, condition, definition, or not asserted."""

import re

HOLE = "⟦⟧"
_OPENS = r"""let|set|put|setting|putting|letting|define[sd]?|defining|denote[sd]?|denoting|suppose|supposing
    |assume[sd]?|assuming
|assumption|consider|considering|take|taking|choose|choosing|chosen|where|(?<!up\ )with|given|such\ that|so\ that|satisfy
    |satisfying|satisfies|fulfil\w*
|if|when|whenever|provided|subject|case|cases|write|writing|substitut\w*|plug\w*
|under(?=\ (?:the|this|that|these|our|some)\ (?:\w+\ )?(?:condition|assumption|hypothes|constraint|restriction|supposition))
|condition\w*|hypothes\w*|solv\w*
    |for(?!\ (?:instance|example|short|this\ reason|that\ reason))|equations?
|fix|pick|call|introduce|whose|unless|until|(?<!we\ )(?<!and\ )(?<!one\ )find
|constraints?|roots?|solutions?|system|minimi\w+|maximi\w+|function
    |polynomial|say
|recurrence|sequence|having|obeys?|functional|expression|while|until|before|replac\w+|requires?|required|requiring
    |relation|identit\w+
|only\ if|as\ long\ as|choice|name|normali[sz]\w+|scal\w+|wlog|generality|inequality"""
_CLOSES = r"""then|so|hence|thus|therefore|have|has|get|gets|obtain\w*|gives?|giving|yields?|yielding|note|since|because|clearly
|equals?|that\ is|i\.e\.|impl\w+|follows?|show(?:s|n)|proves|finds?
|end\ up|arrives?|leads|reads|indeed|consequently|observe|see|becomes?|holds?|means?|in\ fact|namely|now|comput\w+
|simplif\w+|expand\w*|as|is|are|know|conclude|deduce|which|here|also|moreover|furthermore|factor\w*|rewrite|evaluat\w+|turns"""
_CUE = re.compile(rf"\b(?:(?P<opens>{_OPENS})|(?P<closes>{_CLOSES}))\b", re.IGNORECASE | re.VERBOSE)
_CLOSED_BY_COMMA_WRITTEN = "if when whenever for under provided case substituting plugging setting putting taking"
_CLOSED_BY_COMMA = frozenset(_CLOSED_BY_COMMA_WRITTEN.split())
#: Openings that a colon or a comma before the formula ends: "for three numbers: ⟦⟧", "with whole coefficients, ⟦⟧".
_CLOSED_BY_COLON, _CLOSED_WITHOUT_HOLE = frozenset([*_CLOSED_BY_COMMA, "with", "having"]), frozenset(["with", "having"])
_COLON = re.compile(r":\s*$")
#: Words that draw a conclusion.
_DRAWS = re.compile(
    r"""\b(?:so(?!\s+that)|hence|thus|therefore|whence|consequently|accordingly|then|we\s+(?:get|obtain|have|see|conclude|find|arrive\s+at|infer|deduce)
    |giv(?:es|ing)|yield(?:s|ing)|implies|implying|means|that\s+is|i\.e\.?|leaves|left\s+with|follows|shows|says|asserts|states|reads|becomes|conclude|obtain|one\s+(?:has|obtains|gets)
    |in\s+(?:short|particular)|namely|guarantees|forces|leads\s+to)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMES = re.compile(r"roots?|find|function|polynomial|expression|identit\w+", re.IGNORECASE)
_SETS = re.compile(
    r"\b(?:let|suppose|assume|if|when|whenever|for|such\s+that|where|given|choose|put|set|define|denote|write|take|call|consider|pick|fix|exists?|some)\b|:=|⟦",
    re.IGNORECASE,
)
_UNASSERTED = re.compile(
    r"""\b(?:contradict\w*|impossible|absurd\w*|false|neither|nor|none|fails?|failed|wrong\w*
    |incorrect\w*|not\ (?:true|the\ case|hold|have|follow|possible|yet)|for\ which
    |untrue|unless|otherwise|want\w*|wish|show|prove[sd]?
    |proving|whether|suppose|try|guess\w*
    |conjectur\w*|expect\w*|desired?|goal|suffices?|suffice|enough|instead|mistak\w*|typo|if\ and\ only\ if|iff|should
    |tempt\w*|claim(?:s|ed)?\ that|we\ claim
    |approximate\w*|roughly|nearly|asymptotic\w*|hope|target
    |(?:isn't|doesn't|don't|won't)\ (?:true|hold|have|follow|the\ case)|violat\w*|disprov\w*|counterexample
    |reject\w*|exclude[sd]?|excluding|either|at\ most\ one|say|imagine|attempt\w*|candidate|hold\s+only|only\ when|required
    |equivalent|counter)\b|\?""",
    re.IGNORECASE | re.VERBOSE,
)
#: Words that deny or weaken only the clause that they are in.
_WEAKENS = re.compile(
    r"\b(?:not|cannot|can't|never|no|would|could|might|may(?!\s+(?:write|assume))|needs?|must|about|instead|isn't|doesn't|don't|won't)\b",
    re.I,
)
_CLAUSE_ENDS = re.compile(
    r"[;:]|,\s*(?=⟦)|,?\s*\b(?:so(?!\s+(?:that|much|many))|hence|thus|therefore|whence|consequently|accordingly|because|since|which|that\s+is|i\.e|for\s+that\s+reason"
    r"|in\s+other\s+words|in\s+particular|and\s+(?:we|it|this|so|thus|hence|therefore))\b",
    re.IGNORECASE,
)
_CASES = re.compile(
    r"\b(?:if|when(?:ever)?|otherwise|while|whereas|in\s+the\s+other\s+case|for\s+(?:an\s+)?(?:odd|even|positive|negative|other)(?!\s+integers?\b))\b",
    re.IGNORECASE,
)
_REFUTED_LATER = re.compile(
    r"""\b(?:contradict\w*|impossible|absurd\w*|(?:is|are|was)\s+(?:\w+\s+)?(?:false|wrong|incorrect|not\ true)|cannot
    |can't|not\s+possible
    |does\s+not\s+hold|doesn't\s+hold|fails?|never|no\s+solutions?|mistake|wait|violat\w*|exclude[sd]?|rejected
    |not\s+an?\s+\w+|discard\w*
    |false|wrong|nope|does\s+not|doesn't|not\s+satisf\w+|not\s+work)\b|\\bot|↯|⊥|^\W*no\b""",
    re.IGNORECASE | re.VERBOSE,
)
#: A sentence with one of these words may contain an unread supposition.
HYPOTHETICAL_WORDS = re.compile(
    r"\b(?:if|when|suppose|assume|assuming|case|supposing|checking|check|test|trying)\b", re.IGNORECASE
)
#: Two formulas with "does not" between them.
_CLAUSE = re.compile(r"\$[^$]+\$\s+(?:does\s+not|doesn't)\s+\w+\s+\$[^$]+\$")
_HYPOTHETICAL = re.compile(
    r"\b(?:for|by|to)\s+(?:the\s+sake\s+of\s+)?(?:a\s+)?contradiction|\bon\s+the\s+contrary|\bto\s+the\s+contrary", re.I
)


_IMPLIES = re.compile(
    r"\s*,?\s*(?:implies|imply|yields?|gives?|forces?|means|leads?\s+to|results?\s+in|entails?|ensures?|guarantees?|then)\b",
    re.IGNORECASE,
)
_STARTS_FROM = re.compile(
    r"\b(?:from|using|by|since|as|because|given|knowing|recalling|(?<!left\s)(?<!us\s)with|via)\b(?:\s+[a-z'’-]+){0,4}\s*:?\s*$",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"\b(?:given|from|using|via|knowing|(?<!left\s)(?<!us\s)with)\b(?:\s+[a-z'’-]+){0,4}\s*:?\s*$", re.IGNORECASE
)
_SUPPOSED_TOO = re.compile(
    r"\b(?:assum\w+|given|if|when|whenever|where|suppos\w+|let|case|provided|since|because|as)\b(?:(?!\b(?:then|so|hence|thus|we)\b)[^.;:])*"
    r"\band\s+(?:that\s+|also\s+)*$",
    re.IGNORECASE,
)


def is_condition(before: str) -> bool:
    """Whether the words before a formula (other formulas as holes) make it a condition or definition."""
    last = None
    for cue in _CUE.finditer(before):
        last = cue
    if last is None or last["closes"]:
        return False
    word = last["opens"].lower()
    if word in ("identity", "inequality", "relation", "expression", "identities"):
        return _earlier_opens(before[: last.start()])
    rest = before[last.end() :]
    if word in _CLOSED_BY_COLON and _COLON.search(rest):
        return False
    if word in _CLOSED_WITHOUT_HOLE and "," in rest and HOLE not in rest:
        return False
    return not (word in _CLOSED_BY_COMMA and HOLE in rest and re.search(r"⟦⟧[^⟦]*,", rest))


def _earlier_opens(before: str) -> bool:
    return is_condition(before)


def is_drawn(before: str) -> bool:
    """Whether the words before a formula (other formulas as holes) draw it as a conclusion."""
    last = None
    for cue in _DRAWS.finditer(before):
        last = cue
    return last is not None and _SETS.search(before[last.end() :]) is None


def is_only_named(before: str) -> bool:
    """Whether only a word such as "polynomial" makes a condition of a formula that follows (other formulas as holes)."""
    last = None
    for cue in _CUE.finditer(before):
        last = cue
    return last is not None and last["opens"] is not None and _NAMES.fullmatch(last["opens"]) is not None


def may_be_hypothesis(before: str, after: str) -> bool:
    """Whether a formula may be what its sentence starts from: "$P$ implies $Q$", "from $P$ we get", "if $n$ is odd and $P$".

    `before` and `after`: the words around the formula, other formulas as holes.
    """
    return _STARTS_FROM.search(before) is not None or is_hypothesis(before, after)


def is_hypothesis(before: str, after: str) -> bool:
    """Whether a formula need not hold even if everything said before does: "$P$ implies $Q$", "given that $P$"."""
    return any((_IMPLIES.match(after), _GIVEN.search(before), _SUPPOSED_TOO.search(before)))


def is_unasserted(sentence: str, before: str | None = None, after: str = "") -> bool:
    """Whether the sentence denies, asks, aims or supposes, so that nothing in it may be refuted.

    With the words `before` and `after` a formula (other formulas as holes), weak denials count in the formula's clause only.
    """
    clause = sentence
    if before is not None:
        begins = max((found.end() for found in _CLAUSE_ENDS.finditer(before + HOLE) if found.end() <= len(before)), default=0)
        ends = _CLAUSE_ENDS.search(after)
        clause = before[begins:] + " " + (after[: ends.start()] if ends else after)
    return any((_UNASSERTED.search(sentence), _WEAKENS.search(clause)))


def is_denied_later(following: str, before: str = "") -> bool:
    """Whether the following words deny the text before them.

    A clause that also occurs verbatim in `before` is the goal of the proof: "$p^2$ does not divide $n$" then denies nothing.
    """
    return any(not _repeats(found, following, before) for found in _REFUTED_LATER.finditer(following))


def _repeats(denial: re.Match[str], following: str, before: str) -> bool:
    clause = next(
        (one for one in _CLAUSE.finditer(following) if one.start() <= denial.start() and denial.end() <= one.end()), None
    )
    return clause is not None and before.count(clause[0]) > 0


def is_about_cases(sentence: str) -> bool:
    """Whether the sentence has several conditions in turn: "if $n$ is even, …, and if $n$ is odd, …"."""
    return len(_CASES.findall(sentence)) > 1


def is_under_contradiction(preceding: str) -> bool:
    """Whether a proof by contradiction began in the preceding text."""
    return _HYPOTHETICAL.search(preceding) is not None
