"""When two statements are the same, and when they only look alike.

Equal normal forms merge by themselves. Likeness is only ever proposed to people.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

_SPACING = re.compile(r"\\(?:[,;:!> ]|(?:q?quad|thinspace|medspace|left|right|displaystyle|textstyle|[bB]ig[lr]?)\b)|~")
_SYNONYMS = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\dbinom": r"\binom", r"\tbinom": r"\binom",
    r"\geq": r"\ge", r"\geqslant": r"\ge", r"\leq": r"\le", r"\leqslant": r"\le",
    r"\neq": r"\ne", r"\lbrace": r"\{", r"\rbrace": r"\}", r"\to": r"\rightarrow", r"\dots": r"\ldots", r"\cdots": r"\ldots",
    r"\emptyset": r"\varnothing", r"\epsilon": r"\varepsilon", r"\land": r"\wedge", r"\lor": r"\vee",
}  # fmt: skip
_SYMBOLS = {
    "≥": r"\ge", "≤": r"\le", "≠": r"\ne", "→": r"\rightarrow", "…": r"\ldots", "·": r"\cdot", "×": r"\times", "∈": r"\in",
    "∞": r"\infty", "−": "-", "∣": r"\mid", "ℕ": r"\mathbb{n}", "ℤ": r"\mathbb{z}", "ℝ": r"\mathbb{r}", "ℚ": r"\mathbb{q}",
}  # fmt: skip
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_DELIMITERS = re.compile(r"\$\$?|\\[()\[\]]")
_SIMPLE_BRACES = re.compile(r"([\^_])\{(\w)\}")
#: A token of a statement in normal form.
TOKEN = re.compile(r"\\[a-z]+|\d+|[^\W\d_]+|[^\w\s]")
#: A formula with its delimiters. The case of its letters carries meaning ($n$ and $N$ differ); in prose it does not.
FORMULA = re.compile(r"(\$\$?.+?\$\$?|\\\(.+?\\\)|\\\[.+?\\\])", re.DOTALL)
_PROSE_PUNCTUATION = re.compile(r"[.,;:!?\"'“”‘’*`]")
#: Words that a normal form leaves out.
SHORT_WORDS = frozenset({"a", "an", "the", "then", "that", "have", "we"})


def normalise_statement(text: str) -> str:
    """The normal form of a statement: equal forms say the same word for word.

    Ignored are the case of prose, punctuation and articles in prose, white space, TeX spacing and sizing, math delimiters,
    and synonyms such as `\\dfrac` and `\\frac`. Letters in formulas keep their case.
    """
    return " ".join(normal for _, normal in normal_pieces(text) if normal)


def normal_pieces(text: str) -> list[tuple[bool, str]]:
    """Prose and formulas of a statement in turn, each with its normal form; True marks a formula."""
    pieces = FORMULA.split(unicodedata.normalize("NFC", text))
    return [(bool(number % 2), _formula(piece) if number % 2 else _prose(piece)) for number, piece in enumerate(pieces)]


def tokens(normal: str) -> frozenset[str]:
    """The distinct tokens of a statement in normal form."""
    return frozenset(TOKEN.findall(normal))


def similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Dice's coefficient of two token sets, from 0 to 1."""
    size = len(left) + len(right)
    return 2 * len(left & right) / size if size else 1.0


class AlikeIndex:
    """Finds earlier statements whose token similarity reaches `threshold`, without comparing every pair.

    Two sets that similar share at least two of the first tokens of each in a fixed order (prefix filtering; one, where the
    smaller has to share no more), so only statements that do are compared.
    """

    def __init__(self, threshold: float = 0.85) -> None:
        self.threshold = threshold
        self._jaccard = threshold / (2 - threshold)
        self._names: list[str] = []
        self._tokens: list[frozenset[str]] = []
        self._having: dict[str, set[int]] = defaultdict(set)

    def add(self, name: str, normal: str) -> list[tuple[str, float]]:
        """The earlier statements like this one (in normal form), in the order they were added, with their similarity; then
        keep this one."""
        mine = tokens(normal)
        shared = max(1, _ceil(self._jaccard * len(mine)))
        ordered = sorted(mine, key=lambda token: (-len(token), token))
        prefix = ordered[: len(ordered) - shared + 2]
        found = [
            (self._names[place], round(score, 4))
            for place in sorted(self._sharing(prefix, twice=shared > 1))
            if (score := similarity(mine, self._tokens[place])) >= self.threshold
        ]
        for token in prefix:
            self._having[token].add(len(self._names))
        self._names.append(name)
        self._tokens.append(mine)
        return found

    def _sharing(self, prefix: Sequence[str], *, twice: bool) -> set[int]:
        """The statements that share one of these tokens, or two."""
        once, again = set[int](), set[int]()
        for token in prefix:
            having = self._having[token]
            again |= once & having
            once |= having
        return again if twice else once


def _ceil(value: float) -> int:
    return -int(-value // 1)


def _in_commands(text: str) -> str:
    if not text.isascii():
        for symbol, command in _SYMBOLS.items():
            text = text.replace(symbol, f" {command} ")
    return text


def _prose(text: str) -> str:
    text = _in_commands(text)
    words = _PROSE_PUNCTUATION.sub(" ", text).casefold().split()
    return " ".join(word for word in words if word not in SHORT_WORDS)


def _formula(text: str) -> str:
    text = _DELIMITERS.sub(" ", text)
    text = _in_commands(text)
    text = _SPACING.sub(" ", text)
    text = _COMMAND.sub(lambda match: _SYNONYMS.get(match.group(), match.group()) + " ", text)
    text = _SIMPLE_BRACES.sub(r"\1\2", text)
    text = text.rstrip(" .,;")
    return re.sub(r"\s*([^\w\s])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()
