r"""Restrictions that are not read as conditions: exceptions, alternatives, redefined operations.

Each word of "a prime other than $3$" or "$a$ and $b$ of the same parity" is harmless alone. Together they narrow a claim.
"""

import re

from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import Statement
from apps.mathcheck.tex.tree import Node, walk
from apps.mathcheck.words.declarations import DECLARING, GROUP, KIND, plain_name
from apps.mathcheck.words.reading import Line
from apps.mathcheck.words.stance import is_condition
from apps.mathcheck.words.vocabulary import is_restricted

ALTERNATIVE = "it may be one of several alternatives"
OTHER_OPERATION = "it uses an operation that the text redefines"

_NARROWS = re.compile(
    r"\b(?:other\s+than|others|except\w*|apart\s+from|aside\s+from|besides|excluding|without|at\s+(?:least|most)|up\s+to|no\s+(?:more|less)"
    r"|(?:same|different|opposite|equal|both|given|this|that)\s+(?:parity|sign|remainder|residue|length)|parities|remainder"
    r"|powers?\s+of|multiples\s+of|products?\s+of\s+(?:two|three)|(?:sum|difference)s?\s+of\s+(?:two|three)|in\s+the\s+form"
    r"|of\s+the\s+(?:form|shape|same|type)|distinct\s+from|different\s+from|unequal|both\s+(?:of\s+\w+\s+)?(?:odd|even|prime|positive|negative)"
    r"|all\s+(?:odd|even|prime|positive|negative|distinct|different)(?=\s*[,.]|\s*$)|(?:square|cube|composite|whose|consecutive)\b"
    r"(?=\s+(?:numbers?|integers?))|in\s+(?:an\s+)?(?:increasing|decreasing|arithmetic|geometric)\s+(?:order|progression)"
    r"|(?:outside|inside|within|beyond|interval|between|starting|beginning|onwards?|sufficiently|large|small)\b"
    r"|(?:first|second|third|last|previous|other)\s+(?:inequality|condition|equation|relation)\b"
    r"|(?:with|of|has|have|having)\s+(?:the\s+)?(?:sum|product|difference|total|value|mean)\b)",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"\b(?:or|either|(?:one|some|any)\s+of(?!\s+(?:the|its|their|our)\s+(?!following|relation|equation|inequalit|case|possibilit|two\b|congruence))|alternatives?|alternatively|else)\b",
    re.IGNORECASE,
)
_LISTS_ALTERNATIVES = re.compile(
    r"\bone\s+of\b|\b(?:two|three|four|several|following|these)\s+(?:cases|possibilities|alternatives|options)\b"
    r"|\b(?:either|or)\s*:?\s*$",
    re.IGNORECASE,
)
#: A sentence without names may restrict declared names: "they have the same parity", "the sum of all three is $3$".
_REFERS_BACK = re.compile(
    r"\b(?:(?:it|they|this|these)(?!\s+(?:follows?|suffices|remains|implies|gives?|is\s+(?:clear|easy|obvious|trivial|known|true|well)))"
    r"|the\s+(?:first|second|third|last|former|latter|larger|smaller|greater|one|other)|doubles?|twice|thrice|half"
    r"|both|its|their|them|all|each|sum|product|suppose|assume|let|given|allowed|restrict\w*|wlog|loss)\b",
    re.IGNORECASE,
)
_OF_ALL_TOGETHER = re.compile(r"\b(?:they|their|its|both|sum|product)\b", re.IGNORECASE)
#: Things that a sentence without relations may say of the names: "we discard two and three", "it starts at five".
_NAMES_SOMETHING = re.compile(
    r"\b(?:two|three|four|five|six|seven|base|starts?|triangle|quadratic|cubic|roots?|zeros?|part|case|inequality|condition)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(r"^\W*(?:or|else|except\w*|unless|otherwise|alternatively|provided|apart)\b", re.IGNORECASE)
_NO_RELATION_BETWEEN = re.compile(r"\s*(?:,|,?\s*(?:and|or|nor))\s*")
#: A preposition after a name belongs to it: "$n$ from $1$ to $3$", "$a,b$ of sum $1$".
_ATTACHED = re.compile(
    r"⟦(\d+)⟧\s*,?\s*(?:of|from|in|on|at|after|before|other|over|up|above|below|under|than|among|not|out|both|all|each|as|same"
    r"|different|distinct|less|greater|larger|smaller|one)\b",
    re.IGNORECASE,
)
_DECLARED = re.compile(rf"(?P<before>[A-Za-z][A-Za-z'’-]*)?\s*(?<![A-Za-z-]){KIND}\s+{GROUP}", re.IGNORECASE)
_MAY_FOLLOW = re.compile(
    r"""\s*(?:$|[.;:)⟦]|,\s*⟦|,?\s*(?:with|satisfying)\s+(?:(?:the\s+)?(?:conditions?\s+)?)⟦
    |,?\s*(?:and\s+|so\s+)?(?:let|suppose|assume|put|set|consider|define|denote|then|hence|thus|therefore|we|so|for|since|because|if)\b
    |,?\s*and\s+(?:an?\s+|all\s+|any\s+|every\s+|each\s+|the\s+|some\s+)?(?:⟦|(?:positive|negative|real|rational|integer|prime|odd|even
    |number|natural|non)[\w-]*)
    |,?\s*(?:satisf\w+|fulfil\w*)\s+(?:the\s+)?⟦
    |,?\s*(?:be|is|are|where|such\s+that|it|there|this|the|that\s+satisf\w+\s+⟦|holds?|have|has|by|clearly|indeed|now|note|expand\w*
    |factor\w*|obviously|as|these|which\s+gives|in\s+particular)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_LEADS_WRITTEN = r"""
    for all any every each such given let the a an and are is be where with if suppose assume assuming since when arbitrary fix
    fixed some take consider to both here two three four by as that whenever because then if denote there exist exists
    positive negative real rational natural whole odd even prime strictly distinct non-negative nonnegative pairwise
"""
_OF_A_KIND = re.compile(r"⟦(\d+)⟧[^⟦,.;]*\b(?:is|are|be|being)\b", re.IGNORECASE)
_LEADS = frozenset(_LEADS_WRITTEN.split())
_NAMES_AN_OPERATION = re.compile(
    r"(?:\b(?:defin(?:e|es|ed|ing)|denot(?:e|es|ed|ing))\b(?:\s+\w+){0,4}\s*,?\s*⟦(?P<first>\d+)⟧"
    r"|\bwrite\s+⟦(?P<short>\d+)⟧\s+(?:for|to\s+mean|instead)\b|⟦(?P<after>\d+)⟧\s+(?:denotes?|stands?\s+for|means)\b"
    r"|\bby\s+⟦(?P<by>\d+)⟧\s+we\s+(?:mean|denote))",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    r"\b(?:let|set|put|defin\w+|denot\w+|write|consider|suppose|assume|if|satisf\w+|operat\w+|notation|given|by|where|symbol|means)\b",
    re.IGNORECASE,
)
_STARRED = re.compile(r"^\W*(?:[A-Za-z]\s*)?(?:\*|\\ast\b|\\star\b|\\circ\b)\W*(?:[A-Za-z]\)?\s*(?::?=|$)|$)")
_SIGNS: dict[str, tuple[str, object]] = {
    "+": ("add", None),
    **dict.fromkeys(("-", r"\ominus"), ("neg", None)),
    **dict.fromkeys((r"\cdot", r"\times", "*", r"\ast"), ("mul", None)),
    **dict.fromkeys(("/", ":", r"\div"), ("div", None)),
}
_OPERATES = re.compile(r"\b(?:operations?|operators?)\b", re.IGNORECASE)


def has_hidden_condition(line: Line) -> bool:
    """Whether the sentence restricts names in a way that is not read as a condition."""
    return (
        _NARROWS.search(line.words) is not None
        or _ALTERNATIVE.search(line.words) is not None
        or any(_is_name(line, int(found[1])) for found in _ATTACHED.finditer(line.flat))
        or any(_MAY_FOLLOW.match(line.flat[end:]) is None for end in _ends_of_declarations(line))
        or any((found["before"] or "for").lower() not in _LEADS for found in _DECLARED.finditer(line.flat))
        or any(_is_partly_read(statement) for statement in line.statements)
        or any(_is_a_kind_of_more(line, int(found[1])) for found in _OF_A_KIND.finditer(line.flat))
        or any(_continues_a_list(line, place) for place in range(1, len(line.statements)))
    )


def may_restrict_names(line: Line) -> bool:
    """Whether a sentence without relations may restrict declared names in words alone."""
    if any(statement.relations for statement in line.statements):
        return False
    has_names = any(token.kind == "letter" for statement in line.statements for token in statement.tokens)
    if _NAMES_SOMETHING.search(line.words) and not (has_names and "triangle" in line.words):
        return True
    if has_names:
        return _OF_ALL_TOGETHER.search(line.words) is not None
    return any(found.search(line.words) for found in (_REFERS_BACK, _NARROWS)) or is_restricted(line.words)


def may_be_alternative(words: str, before: str, after: str) -> bool:
    """Whether "or" joins the sentence's relations to each other or to those of neighbouring sentences."""
    return any((_ALTERNATIVE.search(words), _LISTS_ALTERNATIVES.search(before), _CONTINUES.search(after)))


def redefined_operations(line: Line) -> set[tuple[str, object]]:
    """The operations that the sentence redefines: "define $a*b=a+b+ab$"."""
    found: set[tuple[str, object]] = set()
    for match in _NAMES_AN_OPERATION.finditer(line.flat):
        found |= _operations(line.statements[int(next(group for group in match.groups() if group))])
    if _INTRODUCES.search(line.words):
        found |= {_SIGNS[sign] for formula in line.formulas if (sign := formula.tex.strip(" {}.")) in _SIGNS}
    if _INTRODUCES.search(line.words) or _OPERATES.search(line.words):
        if any(_STARRED.search(formula.tex) for formula in line.formulas):
            found.add(("mul", None))
        if _OPERATES.search(line.words):
            found |= {one for statement in line.statements if statement.relations for one in _operations(statement)}
    return found


def uses(node: Node, operations: set[tuple[str, object]]) -> bool:
    """Whether an expression uses one of the operations."""
    return any(_operation(part) in operations for part in walk(node))


def _operations(statement: Statement) -> set[tuple[str, object]]:
    """The operation on the left of a statement, unless that is a name, number, function or sequence."""
    if not statement.parts[0]:
        return set()
    try:
        node = parsed(statement.parts[0])
    except NotUnderstood:
        return {("mul", None)} if [token.text for token in statement.parts[0]] == [r"\cdot"] else set()
    return set() if node.op in ("name", "num", "const", "apply", "item") else {_operation(node)}


def _operation(node: Node) -> tuple[str, object]:
    return (node.op, node.value if node.op == "fn" else None)


def _ends_of_declarations(line: Line) -> list[int]:
    """The ends of declarations; for overlapping ones, the end of the longer."""
    spans = [found.span() for pattern in DECLARING for found in pattern.finditer(line.flat)]
    return [end for start, end in spans if all(not (one <= end < other) for one, other in spans)]


def _is_partly_read(statement: Statement) -> bool:
    """Whether it has an unsupported sign, or a relation without its left side: the `> 3` of "a prime $> 3$"."""
    return statement.foreign not in ("", r"\in") or (bool(statement.relations) and not statement.parts[0])


def _is_a_kind_of_more(line: Line, place: int) -> bool:
    """Whether an expression other than a name is supposed to be of a kind: "let $p$ and $p+2$ be primes"."""
    return not line.statements[place].relations and not _is_name(line, place) and is_condition(line.before(place))


def _is_name(line: Line, place: int) -> bool:
    return plain_name(line.statements[place]) is not None


def _continues_a_list(line: Line, place: int) -> bool:
    r"""Whether a lone number or name continues a relation: the $5$ of `p \ne 2, 5`, whose relation contains only the $2$."""
    one, two = line.statements[place - 1], line.statements[place]
    end = line.places[place - 1] + len(f"⟦{place - 1}⟧")
    if not one.relations or two.relations or two.foreign or len([t for t in two.tokens if t.text != "-"]) != 1:
        return False
    return _NO_RELATION_BETWEEN.fullmatch(line.flat[end : line.places[place]]) is not None
