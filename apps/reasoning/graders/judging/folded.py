"""Folding of texts for pattern matching: widths, accents, look-alike letters of other alphabets, TeX between letters, codes.

A fold keeps the source position of each of its characters.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

# Letters of other alphabets that look like Latin ones.
_ALIKE = str.maketrans(
    "АВСЕНІЈКМОРЅТХасеһіјкӏорԛѕԝхуԁոսΑΒΕΗΙΚΜΝΟΡΤΧονιαρυετκɡı",
    "ABCEHIJKMOPSTXacehijklopqswxydnuABEHIKMNOPTXoviapuetkgi",
)
_DIGITS_ALIKE = str.maketrans("0134578@$|!", "oieastbasii")
_WORD = re.compile(r"\w+")
_LETTERS_AND_DIGITS = re.compile(r"[A-Za-z0134578@$|!]{3,}")
_TEX = re.compile(
    r"(?P<glue>\\(?:text\w*|math\w*|emph|operatorname\*?|mbox|hbox|mathrm)\s*\{|\\[a-zA-Z]{1,2}(?=\{)|[{}$*_`]|\\[,;:!])"
    r"|(?P<gap>\\[a-zA-Z]+\*?|\\\\|\\ |~)"
)
_APART = re.compile(r"(?<!\w)(?:[A-Za-z][ .\-_*·]){9,}[A-Za-z](?!\w)")
_BASE64 = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{24,}={0,2}")
_HEX = re.compile(r"(?<!\w)(?:0x)?((?:[0-9a-fA-F]{2}[ :]?){12,})(?!\w)")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}){4,}|(?:\\x[0-9a-fA-F]{2}){4,}")
_CHAR = re.compile(r"\\char\s*(['\"]?[0-9A-Fa-f]+)")
_CHARS = re.compile(r"(?:\\char\s*['\"]?[0-9A-Fa-f]+\s*){4,}")
_WRITINGS = {
    "CYRILLIC": 12, "CJK": 6, "HIRAGANA": 4, "KATAKANA": 6, "HANGUL": 5, "ARABIC": 12, "HEBREW": 12, "DEVANAGARI": 10,
    "THAI": 10, "BENGALI": 10, "TAMIL": 10, "GEORGIAN": 12, "ARMENIAN": 12, "ETHIOPIC": 8, "GREEK": 16,
}  # fmt: skip


class Folded(NamedTuple):
    """A folded text. `places[i]` is the position in the source of the character `text[i]`."""

    text: str
    places: Sequence[int]


def folded(source: str) -> Folded:
    """Normalise: compatible forms, no accents, no zero-width characters; mixed-alphabet words in Latin letters."""
    if source.isascii():
        return Folded(source, range(len(source)))
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(source):
        for one in sign if sign.isascii() else unicodedata.normalize("NFKD", sign):
            if one.isascii() or unicodedata.category(one) not in ("Mn", "Me", "Cf"):
                signs.append(one)
                places.append(place)
    text = _WORD.sub(lambda found: _latin(found.group()), "".join(signs))
    return Folded(text, tuple(places))


def _latin(word: str) -> str:
    """Replace look-alike letters in a word that also has Latin ones. The length does not change."""
    if word.isascii():
        return word
    read = word.translate(_ALIKE)
    return read if read.isascii() and any(sign.isascii() and sign.isalpha() for sign in word) else word


def readings(text: Folded) -> list[Folded]:
    """Alternative readings of a fold: unchanged, without TeX between letters, and with digits read as letters."""
    plain = _without_tex(text)
    found = [text, plain]
    digits = _LETTERS_AND_DIGITS.sub(lambda one: one.group().translate(_DIGITS_ALIKE), plain.text)
    return [*found, Folded(digits, plain.places)] if digits != plain.text else found


def _without_tex(text: Folded) -> Folded:
    signs: list[str] = []
    places: list[int] = []
    last = 0
    for found in _TEX.finditer(text.text):
        signs += text.text[last : found.start()]
        places += text.places[last : found.start()]
        if found["gap"]:
            signs.append(" ")
            places.append(text.places[found.start()])
        last = found.end()
    return Folded("".join(signs) + text.text[last:], (*places, *text.places[last:]))


def decoded(source: str) -> Iterator[tuple[str, str]]:
    """Texts hidden by a code, with the code's name: reversal, ROT13, Base64, hexadecimal, entities, escapes."""
    yield "being turned round", source[::-1]
    yield "ROT13", codecs.encode(source, "rot13")
    for found in _BASE64.finditer(source):
        if text := _text_of(base64.b64decode, found.group() + "=" * (-len(found.group()) % 4)):
            yield "Base64", text
    for found in _HEX.finditer(source):
        if text := _text_of(bytes.fromhex, re.sub("[ :]", "", found.group(1))):
            yield "hexadecimal digits", text
    for how, other in (("entities of HTML", html.unescape(source)), ("signs of an address", unquote(source))):
        if other != source:
            yield how, other
    for found in _ESCAPES.finditer(source):
        yield "escapes", codecs.decode(found.group(), "unicode_escape")
    for found in _CHARS.finditer(source):
        yield "numbers of signs", "".join(_char(one) for one in _CHAR.findall(found.group()))


def _char(number: str) -> str:
    base = {'"': 16, "'": 8}.get(number[0], 10)
    try:
        return chr(int(number.lstrip("'\""), base))
    except ValueError:
        return ""


def _text_of(decode: Callable[[str], bytes], code: str) -> str:
    """The text encoded by a code, or "" if it is not made of words."""
    try:
        text = decode(code).decode()
    except (ValueError, binascii.Error):
        return ""
    letters = sum(sign.isalpha() or sign.isspace() for sign in text)
    return text if " " in text.strip() and letters > 0.7 * len(text) else ""


def set_apart(source: str) -> bool:
    """Whether words are spelled with separated letters: ten or more in a row, with vowels among them."""
    return any(sum(sign in "aeiouAEIOU" for sign in found.group()) >= 3 for found in _APART.finditer(source))


def other_writings(source: str) -> list[str]:
    """Scripts other than Latin with a longer passage in a Latin text. Short Greek passages are mathematics."""
    if source.isascii():
        return []
    names: list[str] = []
    counts: Counter[str] = Counter()
    run, length = "", 0
    for sign in source:
        if not sign.isalpha():
            length = 0 if sign == "\n" else length
            continue
        writing = "LATIN" if sign.isascii() else unicodedata.name(sign, "?").split()[0].removesuffix("-COMPATIBILITY")
        counts[writing] += 1
        run, length = writing, length + 1 if writing == run else 1
        if length == _WRITINGS.get(writing, 0):
            names.append(writing)
    others = sum(count for name, count in counts.items() if name not in ("LATIN", "GREEK"))
    return [name.title() for name in dict.fromkeys(names)] if counts["LATIN"] > others else []
