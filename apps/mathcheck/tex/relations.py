"""A formula as statements: chains of relations between expressions, cut at commas, words, arrows and line breaks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.mathcheck.tex.lexing import Token, tokens

RELATIONS = frozenset(["=", "<", ">", r"\le", r"\ge", r"\ne", r"\equiv", r"\nequiv", r"\mid", r"\nmid", ":="])
#: A relation after `\not`, and what both mean together.
DENIED = {
    "=": r"\ne", "<": r"\ge", ">": r"\le", r"\le": ">", r"\ge": "<", r"\equiv": r"\nequiv", r"\mid": r"\nmid",
    "|": r"\nmid", r"\in": r"\notin",
}  # fmt: skip
_FOREIGN_WRITTEN = r"""
    \approx \sim \simeq \cong \in \notin \subset \subseteq \supset \supseteq \to \mapsto \rightarrow \longrightarrow
    \perp \parallel \propto \ll \gg \prec \succ \preceq \succeq \doteq \not \ngeq \nleq \ni \gtrsim \lesssim
    \asymp \parallel \longmapsto \searrow \nearrow \uparrow \downarrow \leftrightarrow \models \vdash \setminus \cup
    \cap : \triangleq
"""
FOREIGN = frozenset(_FOREIGN_WRITTEN.split())
ARROWS = {
    r"\Rightarrow": "then",
    r"\Leftrightarrow": "iff",
    r"\wedge": "and",
    r"\vee": "or",
    r"\therefore": "then",
    r"\because": "since",
}
_CONNECTIVE = re.compile(
    r"\W*(?:and|or|if|for|since|where|when|with|so|then|as|because|by|hence|thus|is|are|but|such|that|we|which|implies|it|this|be|let"
    r"|therefore|whenever|provided|respectively|i\.e|holds|in|also|not|from|using|on|given|odd|even|prime|positive|real|integer)\b|\W*$",
    re.IGNORECASE,
)
BETWEEN_DIGITS = "a comma between digits"
_BACKWARDS = RELATIONS | {r"\pmod", r"\mod"}
OPENING = frozenset(["(", "[", "{", r"\{", r"\lfloor", r"\lceil", r"\langle"])
CLOSING = frozenset([")", "]", "}", r"\}", r"\rfloor", r"\rceil", r"\rangle"])


@dataclass(slots=True)
class Statement:
    """A chain `parts[0] relations[0] parts[1] …` with its modulus. `words`: words before it inside the formula.

    `separator` is the kind of separator before it: start, comma, break, space or words. `foreign` is an unsupported sign.
    """

    parts: list[list[Token]] = field(default_factory=lambda: [[]])
    relations: list[Token] = field(default_factory=list)
    modulus: list[Token] | None = None
    modulus_end: int = 0
    words: str = ""
    separator: str = "start"
    foreign: str = ""
    #: Whether a comma between two digits precedes it: `0,25` may be a decimal fraction.
    after_digits: bool = False

    @property
    def tokens(self) -> list[Token]:
        """Everything but the modulus and the relations."""
        return [token for part in self.parts for token in part]

    @property
    def empty(self) -> bool:
        return not self.tokens and not self.relations


def statements(tex: str) -> list[Statement]:
    """The statements of a formula, in order; bare expressions and list items are statements without relations."""
    found, current, depth = [], Statement(), 0
    items = _joined_lines(_denied(tokens(tex)))
    for place, token in enumerate(items):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        separator = _separator(token, items[place + 1 : place + 2]) if depth == 0 else ""
        if separator == "words" and token.kind == "text" and not _CONNECTIVE.match(token.text):
            current.foreign = current.foreign or "words in a formula"
        by_digits = separator == "comma" and _is_thousands(items, place)
        if by_digits:
            current.foreign = BETWEEN_DIGITS
        if separator:
            _refuse_fraction(current)
            if not current.empty or separator == "words":
                found.append(current)
                current = Statement(separator=separator, after_digits=by_digits)
            if separator == "words":
                current.words = ARROWS.get(token.text, token.text)
        elif depth == 0 and token.text in RELATIONS:
            current.relations.append(token)
            current.parts.append([])
        else:
            if depth == 0 and token.text in FOREIGN:
                current.foreign = current.foreign or token.text
            current.parts[-1].append(token)
    _refuse_fraction(current)
    found.append(current)
    for statement in found:
        _take_modulus(statement)
    _share_modulus(found)
    return [statement for statement in found if not statement.empty or statement.words]


def _denied(items: list[Token]) -> list[Token]:
    r"""The tokens with `\not` and the relation after it as one."""
    found: list[Token] = []
    for token in items:
        if found and found[-1].text == r"\not" and token.text in DENIED:
            found[-1] = Token("cmd", DENIED[token.text], found[-1].start, token.end)
        else:
            found.append(token)
    return found


def _refuse_fraction(statement: Statement) -> None:
    """Mark the `5\\cdot 2=3` of `1,5\\cdot 2=3` as foreign: it is not a statement."""
    if statement.after_digits and statement.relations:
        statement.foreign = statement.foreign or BETWEEN_DIGITS


def _is_thousands(items: Sequence[Token], place: int) -> bool:
    near = items[max(place - 1, 0) : place + 2]
    return (
        len(near) == 3
        and near[0].kind == near[2].kind == "num"
        and near[0].end == near[1].start
        and near[1].end == near[2].start
    )


def _separator(token: Token, rest: Sequence[Token]) -> str:
    if token.kind == "text" or token.text in ARROWS:
        return "words"
    if token.text in (",", ";") or (token.text == "." and (not rest or rest[0].kind in ("break", "text", "space"))):
        return "comma"
    return {"break": "break", "space": "space"}.get(token.kind, "")


def _joined_lines(items: list[Token]) -> list[Token]:
    """The tokens with continued lines joined: a line that begins with a relation, or a bare continuation."""
    kept: list[Token] = []
    following_at = _following(items)
    for place, token in enumerate(items):
        if token.kind not in ("space", "break"):
            kept.append(token)
            continue
        following = following_at[place]
        if following is not None and following.text in _BACKWARDS:
            continue
        if (
            token.kind == "space"
            and following is not None
            and following.text == "("
            and r"\mod" in [t.text for t in items[place : place + 4]]
        ):
            continue
        if token.kind == "space" and kept and (kept[-1].kind == "break" or kept[-1].text in RELATIONS | {"+", "-", r"\cdot"}):
            continue
        signed = following is not None and following.text in ("+", "-", r"\cdot", "/")
        if signed and not _line_has_relation(items, place + 1):
            continue
        kept.append(token)
    return kept


def _following(items: Sequence[Token]) -> list[Token | None]:
    """For each token, the next one that is neither a space nor a new line."""
    found: list[Token | None] = []
    following: Token | None = None
    for token in reversed(items):
        found.append(following)
        following = following if token.kind in ("space", "break") else token
    return found[::-1]


def _line_has_relation(items: Sequence[Token], start: int) -> bool:
    for place in range(start, len(items)):
        token = items[place]
        if token.kind == "break":
            return False
        if token.text in RELATIONS:
            return True
    return False


def _take_modulus(statement: Statement) -> None:
    """Move `\\pmod{m}`, `\\mod m` or `(\\mod m)` from the end of the last part to the modulus."""
    last = statement.parts[-1]
    place = next((i for i, token in enumerate(last) if token.text in (r"\pmod", r"\mod")), None)
    if place is None:
        return
    if place == 0 or not any(relation.text in (r"\equiv", r"\nequiv", "=", r"\ne") for relation in statement.relations):
        statement.foreign = r"\mod"
        return
    modulus, front = last[place + 1 :], last[:place]
    statement.modulus_end = last[-1].end
    if modulus and modulus[0].text == "{" and modulus[-1].text == "}":
        modulus = modulus[1:-1]
    if front and front[-1].text == "(" and modulus and modulus[-1].text == ")":
        front, modulus = front[:-1], modulus[:-1]
    statement.parts[-1], statement.modulus = front, modulus


def _share_modulus(found: Sequence[Statement]) -> None:
    """Apply a modulus to the congruences before it: `3^2 \\equiv 2,\\ 3^3 \\equiv 6 \\pmod 7`."""
    modulus: list[Token] | None = None
    for statement in reversed(found):
        if statement.modulus is not None:
            modulus = statement.modulus
        elif any(relation.text in (r"\equiv", r"\nequiv") for relation in statement.relations):
            statement.modulus = modulus
