"""Remarks after an answer: which words are cut off, and which remain unread.

A wrong *different* would train against a correct answer, so unknown words never decide.
"""

from apps.reasoning.answers.reading.slicing import Tokens, at_depth_zero
from apps.reasoning.answers.vocabulary import COUNTED_WITHOUT, FILLERS, KNOWN_WORDS, NUMBERS, PRAISE, words
from apps.reasoning.answers.work import Unreadable

#: Words that introduce a reason: the answer is before them.
_REASONS = words("since because")
#: The text after these may add to the answer, or be the answer itself.
_REMARKS = words("as at namely which attained achieved reached")
_CONCLUSIONS = words("so thus hence therefore giving")
#: After a comma these may name what the value before it belongs to.
_SAYING = words("is are value values answer answers solution solutions equals equal get have it final number by to") | PRAISE
_SEPARATORS = (",", ";", "or", "and")
#: These belong to the answer, which is then not read.
_QUANTITIES = (("as", "well"), ("at", "least"), ("at", "most"))
_VALUES = ("number", "name", "command")


def without_remark(given: Tokens) -> tuple[Tokens, str]:
    """The tokens before the first remark, and why the rest cannot decide *different*; "" if it can."""
    for place in at_depth_zero(given):
        text, after = given[place].text, [one.text for one in given[place + 1 :]]
        if not place or given[place].kind != "word":
            continue
        if text in _REASONS:
            return given[:place], ""
        if (text, *after[:1]) in _QUANTITIES:
            return given, ""
        is_equality = text == "with" and after[:1] == ["equality"]
        if is_equality or text in _REMARKS:
            return given[:place], f"what follows “{text}” in it is not read"
        if text in _CONCLUSIONS and _says_more(given[:place]):
            if any(one.kind in _VALUES or one.text in NUMBERS for one in given[place + 1 :]):
                raise Unreadable(f"it is unclear whether the answer is before or after “{text}”")
            return given[:place], f"what follows “{text}” in it is not read"
    return given, ""


def _says_more(given: Tokens) -> bool:
    return any(one.kind != "word" or one.text not in FILLERS for one in given)


def unread_words(given: Tokens) -> str:
    """Why words that are not known here keep the answer from being *different*; empty where there are none, or where they
    only say what one number counts (“24 ways”)."""
    first = next((place for place in at_depth_zero(given) if given[place].text in _SEPARATORS), len(given))
    said = [(place, one.text) for place, one in enumerate(given) if one.kind == "word"]
    unread = [(place, text) for place, text in said if text not in KNOWN_WORDS or (place > first and text in _SAYING)]
    if not unread:
        return ""
    start, unknown = unread[0][0], [text for _, text in unread]
    is_one = first == len(given) and all(one.kind == "word" for one in given[start:])
    if is_one and start and not COUNTED_WITHOUT.intersection(unknown):
        return ""
    return f"the words “{' '.join(unknown[:6])}” in it are not read"
