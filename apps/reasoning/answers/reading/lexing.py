"""Tokens of an answer: numbers, letters, TeX commands, words and signs.

White space, sizing and font commands are gone. Outside formulas a run of letters is a word; inside, each letter is a name.
"""

import re
import unicodedata
from typing import Literal, NamedTuple

from apps.reasoning.answers.vocabulary import words
from apps.reasoning.answers.work import Unreadable

MOST_CHARACTERS = 4_000
MOST_TOKENS = 1_200
Kind = Literal["number", "name", "command", "word", "sign"]


class Token(NamedTuple):
    """`text` of a command has its backslash; of a word it is in small letters."""

    kind: Kind
    text: str


_CHARACTERS = {
    "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": "/", "−": "-", "–": "-", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ",
    "⩽": r"\le ", "⩾": r"\ge ", "∞": r"\infty ", "±": r"\pm ", "∓": r"\mp ", "∪": r"\cup ", "∈": r"\in ", "∅": r"\emptyset ",
    "°": r"^\circ ", "…": r"\ldots ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "√": r"\sqrt ",
    "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "≡": r"\equiv ", "≈": r"\approx ",
    "½": r"\frac12 ", "⅓": r"\frac13 ", "¼": r"\frac14 ", "¾": r"\frac34 ", "⅔": r"\frac23 ", "∖": r"\setminus ",
    "π": r"\pi ", "φ": r"\varphi ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ", "θ": r"\theta ",
    "€": r"\text{euros}", "**": "^", "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "...": r"\ldots ",
}  # fmt: skip
_REPLACED = re.compile("|".join(re.escape(one) for one in sorted(_CHARACTERS, key=len, reverse=True)))
_SUPERSCRIPTS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁻]+")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁻", "0123456789n-")
_DROPPED = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits|nolimits|mathstrut|thinspace|hspace\{[^{}]*\}|phantom\{[^{}]*\})"
    r"(?![a-zA-Z])\.?"
)
_UNBOXED = re.compile(r"\\(?:boxed|fbox|mathbf|boldsymbol|bm|mathit|ensuremath|mathcal)(?![a-zA-Z])")
_WORDY = re.compile(r"\\(?:text(?:rm|bf|it|sf|normal)?|mathrm|mbox|operatorname\*?)\s*\{([^{}]*)\}")
_ROOT_SIGN = re.compile(r"√\s*(\d+|\w)")
#: `5 m` outside formulas, where a single letter is else a name.
_LONE_UNIT = re.compile(r"(?<=\d) ([mgsh])(?![\w(^*/+-])")
_ESCAPED_DOLLAR = re.compile(r"\\\$\s*")
_FORMULA = re.compile(r"(\$\$.*?\$\$|\$.*?\$|\\\(.*?\\\)|\\\[.*?\\\])", re.DOTALL)
_BRACED_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d)")
_THIN_GROUPS = re.compile(r"(?<![\d.])(\d{1,3}(?:(?:\\[,!; ]|\{,\}| )\d{3})+)(?!\d)")
_COMMA_GROUPS = re.compile(r"(?<![\d,.])(\d{1,3}(?:,\d{3})+)(?![\d,])")
_DECIMAL_COMMA = re.compile(r"(?<![\d,.(\[{])(\d+),(\d+)(?![\d,)\]])")
_TOKEN = re.compile(
    r"\s+|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\w))?|\.\d+)|(?P<spacing>\\[,;:!> ]|\\q?quad(?![a-zA-Z])|~|\\\\)"
    r"|(?P<command>\\[a-zA-Z]+|\\[{}|%])|\x01(?P<text>[^\x02]*)\x02|(?P<letters>[^\W\d_]+)"
    r"|(?P<sign>[-+*/^_=<>()\[\]{},;:!|.'%&?])"
)
_SYNONYMS = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom", r"\tbinom": r"\binom",
    r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge", r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lt": "<", r"\gt": ">",
    r"\dots": r"\ldots", r"\cdots": r"\ldots", r"\dotsc": r"\ldots", r"\lbrace": r"\{", r"\rbrace": r"\}",
    r"\varnothing": r"\emptyset", r"\degree": "°", r"\lvert": "|", r"\rvert": "|", r"\vert": "|", r"\ast": "*", r"\%": "%",
    r"\backslash": r"\setminus", r"\smallsetminus": r"\setminus", r"\lparen": "(", r"\rparen": ")", r"\lbrack": "[",
    r"\rbrack": "]", r"\land": "and", r"\lor": "or", r"\wedge": "and", r"\vee": "or", r"\colon": ":",
    r"\arctan": r"\atan", r"\infin": r"\infty", r"\div": "/",
}  # fmt: skip
_PLAIN_COMMANDS = words(
    "sqrt sin cos tan cot log ln exp floor ceil gcd lcm max min pi binom infty emptyset alpha beta gamma lambda theta phi"
    " varphi"
)
_IN_FORMULAS = words("and or if otherwise where for all any some with odd even prime")
#: Three letters in a formula that are a word, not a product. More letters are one where they have a vowel and are not in order.
_THREE = words("the not too but are was has its one two six ten mod max min per yes non arc sin cos tan log")
#: Two letters outside a formula that are a word, not a product of names.
_SHORT_WORDS = words("is an or of no if in to by at so as it we be do up on cm mm km kg")


def tokens(text: str, *, grouped: bool = True, decimal_comma: bool = False) -> tuple[list[Token], frozenset[str]]:
    """The tokens of an answer, and which of its spellings could be read in another way.

    `grouped`: `1,234` is one number, not two. `decimal_comma`: `0,5` is one number. Raises `Unreadable`.
    """
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"it is longer than {MOST_CHARACTERS:,} characters")
    plain = unicodedata.normalize("NFC", text)
    plain = _SUPERSCRIPTS.sub(lambda found: "^{" + found.group().translate(_LOWERED) + "}", plain)
    plain = _ROOT_SIGN.sub(r"\\sqrt{\1}", plain)
    plain = _REPLACED.sub(lambda found: _CHARACTERS[found.group()], _ESCAPED_DOLLAR.sub(r"\\text{dollars}", plain))
    plain = _WORDY.sub("\x01\\1\x02", _UNBOXED.sub("", _DROPPED.sub(" ", plain)))
    plain, met = _numbers_joined(plain, grouped, decimal_comma)
    pieces = _FORMULA.split(plain)
    has_formulas = len(pieces) > 1
    found: list[Token] = []
    for number, piece in enumerate(pieces):
        is_formula = bool(number % 2)
        inside = piece.strip("$") if is_formula else _LONE_UNIT.sub("\x01\\1\x02", piece)
        found += _tokens_of(inside, formula=is_formula, alone=not has_formulas)
    if len(found) > MOST_TOKENS:
        raise Unreadable(f"it has more than {MOST_TOKENS:,} signs")
    return found, met


def _numbers_joined(text: str, grouped: bool, decimal_comma: bool) -> tuple[str, frozenset[str]]:
    met = set()
    text = _THIN_GROUPS.sub(lambda found: re.sub(r"\D", "", found.group()), text)
    text = _BRACED_COMMA.sub(".", text)
    if _COMMA_GROUPS.search(text):
        met.add("grouped")
        if grouped:
            text = _COMMA_GROUPS.sub(lambda found: found.group().replace(",", ""), text)
    elif _DECIMAL_COMMA.search(text):
        met.add("decimal_comma")
        if decimal_comma:
            text = _DECIMAL_COMMA.sub(r"\1.\2", text)
    return text, frozenset(met)


def _tokens_of(text: str, *, formula: bool, alone: bool) -> list[Token]:
    found: list[Token] = []
    place = 0
    text = text.replace("\\(", " ").replace("\\)", " ").replace("\\[", " ").replace("\\]", " ").replace("$", " ")
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Unreadable(f"it has the sign {text[place]!r}")
        place = match.end()
        if number := match["number"]:
            found.append(Token("number", number))
        elif command := match["command"]:
            found.append(_command(command))
        elif match["text"] is not None:
            found += [Token("word", word.lower()) for word in re.findall(r"[^\W\d_]+", match["text"])]
        elif letters := match["letters"]:
            found += _letters(letters, formula=formula, alone=alone)
        elif sign := match["sign"]:
            found.append(Token("sign", sign))
    return found


def _command(text: str) -> Token:
    name = _SYNONYMS.get(text, text)
    if name.isalpha():
        return Token("word", name)
    return Token("command" if name.startswith("\\") or name == "°" else "sign", name)


def _letters(run: str, *, formula: bool, alone: bool) -> list[Token]:
    lower = run.lower()
    if len(run) > 1 and run in _PLAIN_COMMANDS:
        return [_command("\\" + run)]
    if len(run) > 1 and (lower in _IN_FORMULAS or lower in _SHORT_WORDS):
        return [Token("word", lower)]
    if formula and (lower in _THREE or (len(run) > 3 and set("aeiou") & set(lower) and list(lower) != sorted(lower))):
        return [Token("word", lower)]
    is_names = formula or len(run) == 1 or (alone and len(run) == 2)
    if len(run) == 1 and not formula and not alone and lower == "a":
        return [Token("word", lower)]
    return [Token("name", letter) for letter in run] if is_names else [Token("word", lower)]
