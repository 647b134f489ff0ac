"""The role of a formula in its sentence: assertion, condition, definition, or not asserted."""

import re

HOLE = "⟦⟧"
_OPENS = r"""let|set|put|setting|putting|letting|define[sd]?|defining|denote[sd]?|denoting|suppose|supposing
    |assume[sd]?|assuming
|assumption|consider|considering|take|taking|choose|choosing|chosen|where|(?<!up\ )with|given|such\ that|so\ that|satisfy
    |satisfying|satisfies
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
_UNASSERTED = re.compile(
    r"""\b(?:contradict\w*|impossible|absurd\w*|false|not|cannot|can't|never|neither|nor|none|no|fails?|failed|wrong\w*
    |incorrect\w*
    |untrue|unless|otherwise|would|could|might|may(?!\ (?:write|assume))|want\w*|wish|needs?|must|show|prove[sd]?
    |proving|whether|suppose|try|guess\w*
    |conjectur\w*|expect\w*|desired?|goal|suffices?|suffice|enough|instead|mistak\w*|typo|if\ and\ only\ if|iff|should
    |tempt\w*|claim(?:s|ed)?\ that|we\ claim
    |approximate\w*|about|roughly|nearly|asymptotic\w*|hope|target|isn't|doesn't|don't|won't|violat\w*|disprov\w*|counterexample
    |reject\w*|exclude[sd]?|excluding|either|at\ most\ one|say|imagine|attempt\w*|candidate|hold\s+only|only\ when|required
    |equivalent|counter)\b|\?""",
    re.IGNORECASE | re.VERBOSE,
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
    r"\b(?:from|using|by|since|as|because|given|knowing|recalling|with|via)\b(?:\s+[a-z'’-]+){0,4}\s*:?\s*$", re.IGNORECASE
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


def may_be_hypothesis(before: str, after: str) -> bool:
    """Whether a formula may be what its sentence starts from: "$P$ implies $Q$", "from $P$ we get", "if $n$ is odd and $P$".

    `before` and `after`: the words around the formula, other formulas as holes.
    """
    return any((_IMPLIES.match(after), _STARTS_FROM.search(before), _SUPPOSED_TOO.search(before)))


def is_unasserted(sentence: str) -> bool:
    """Whether the sentence denies, asks, aims or supposes, so that nothing in it may be refuted."""
    return _UNASSERTED.search(sentence) is not None


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


def is_under_contradiction(preceding: str) -> bool:
    """Whether a proof by contradiction began in the preceding text."""
    return _HYPOTHETICAL.search(preceding) is not None
