"""The words of answers: classes of numbers, units, words for "none", and words without meaning."""

from collections.abc import Sequence
from fractions import Fraction

from apps.reasoning.answers.values.shapes import Class, Sign


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


#: Words that may surround an answer without changing it.
FILLERS = words(
    "the a an is are answer answers final solution solutions value values all only possible exactly namely precisely number"
    " numbers there we get have thus so hence therefore function functions pair pairs triple triples set integer integers by"
    " it equals equal to of form every each those any constant equivalently"
)
#: Conditions keep their answer apart from one without.
CONDITIONS = words("where for with if when such provided otherwise unless excluding except whenever depending given")
#: Words after “is” that do not change a number.
PRAISE = words("minimum maximum least greatest smallest largest required desired unique min max")
#: Words after a number that do not name the counted things.
COUNTED_WITHOUT = words(
    "is are was were be been has have had do does too not only also at by on in to from than less more least most but"
    " fail fails work works wrong right false true impossible possible small large big suffice suffices satisfies satisfy"
    " exceeds exists exist or and gives give holds hold never cannot without instead excluded otherwise"
)
#: Conditions under which every value of a letter is allowed.
FREE_WORDS = words(
    "for any all every each some where with is are be an a arbitrary constant constants real reals number numbers"
    " parameter and in value values x"
)
_NONE_OF = "solution solutions integers numbers number integer functions function pairs triples values primes n"
NOTHING = frozenset(
    [
        "none",
        "nothing",
        "empty set",
        "the empty set",
        "there is none",
        "there are none",
        "no real numbers",
        "no positive integers",
    ]
    + [
        before + kind + what + after
        for before in ("no ", "there are no ", "there is no ")
        for kind in ("", "such ", "real ", "integer ", "positive integer ")
        for what in _NONE_OF.split()
        for after in ("", " exist", " exists")
    ]
)
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: number for number, word in enumerate(_NUMBERS.split())}
_BASES = {
    word: base
    for base, names in (
        ("integers", "integer integers whole"),
        ("natural", "natural naturals"),
        ("even", "even evens"),
        ("odd", "odd odds"),
        ("primes", "prime primes"),
        ("composite", "composite"),
        ("reals", "real reals"),
        ("rationals", "rational rationals"),
        ("irrational", "irrational irrationals"),
        ("squares", "square squares"),
        ("cubes", "cube cubes"),
        ("complex", "complex"),
    )
    for word in names.split()
}
_WIDE = ("", "integers", "natural")
_SIGNS: dict[str, Sign] = {"positive": "positive", "nonnegative": "nonnegative", "negative": "negative"}
_AROUND = words("all the is are number numbers n m k p x every any must be a an of set perfect")
SETS = {
    "R": Class("reals", ""),
    "Z": Class("integers", ""),
    "Q": Class("rationals", ""),
    "N": Class("natural", ""),
    "C": Class("complex", ""),
}
DEGREES = words("degree degrees")
POWERS = {"square": 2, "cubic": 3, "squared": 2, "cubed": 3}
_UNITS = {
    word: (dimension, Fraction(factor))
    for dimension, factor, names in (
        ("length", "1/1000", "mm millimeters millimetres"),
        ("length", "1/100", "cm centimeters centimetres centimeter centimetre"),
        ("length", "1", "m meters metres meter metre"),
        ("length", "1000", "km kilometers kilometres"),
        ("time", "1", "s seconds second"),
        ("time", "60", "min minutes minute"),
        ("time", "3600", "h hours hour"),
        ("time", "86400", "days day"),
        ("mass", "1", "g grams gram"),
        ("mass", "1000", "kg kilograms kilogram"),
        ("dollars", "1", "dollars dollar"),
        ("dollars", "1/100", "cents cent"),
        ("euros", "1", "euros euro"),
        ("percent", "1/100", "percent"),
    )
    for word in names.split()
}


KNOWN_WORDS = (
    FILLERS
    | FREE_WORDS
    | CONDITIONS
    | PRAISE
    | DEGREES
    | _AROUND
    | NUMBERS.keys()
    | _BASES.keys()
    | _SIGNS.keys()
    | POWERS.keys()
    | _UNITS.keys()
    | words("and or no non none yes such exist exists nothing empty permutations its their")
)


def unit_of(word: str, power: int = 1) -> tuple[str, Fraction] | None:
    """The dimension of a unit and its factor, with an exponent for areas and volumes."""
    found = _UNITS.get(word)
    return None if found is None else (found[0] if power == 1 else f"{found[0]}^{power}", found[1] ** power)


def class_of(given: Sequence[str]) -> Class | None:
    """The class that words name, such as “all odd positive integers” or “n is prime”; None where a word is not known."""
    base, sign = "", ""
    for place, word in enumerate(given):
        if word in _SIGNS and not sign:
            sign = "nonnegative" if given[place - 1 : place] == ["non"] else _SIGNS[word]
        elif word in _BASES and base in _WIDE:
            base = _BASES[word]
        elif word not in _AROUND and (word not in _BASES or _BASES[word] not in (*_WIDE, base)) and word != "non":
            return None
    if base == "natural" and sign:
        base = "integers"
    return Class(base, sign) if base else None  # type: ignore[arg-type]
