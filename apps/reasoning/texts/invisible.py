"""Text in a source that is invisible when typeset: words addressed to a program, not to the reader."""

import re
import unicodedata

_NO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\U000e0000-\U000e007f]")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0]")
_HEAPED = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{3,}")
_WHITE = (
    r"\\(?:text)?color\s*(?:\[\w+\])?\s*\{\s*(?:white|#?f{3}(?:f{3})?|1(?:\.0*)?\s*,\s*1(?:\.0*)?\s*,\s*1(?:\.0*)?|1(?:\.0*)?"
    r"|255\s*,\s*255\s*,\s*255)\s*\}"
)
_KINDS = (
    (re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL), "a comment of HTML"),
    (re.compile(r"\\[hv]?phantom\b|\\mathphantom\b"), "a phantom, which takes room and shows nothing"),
    (re.compile(_WHITE, re.IGNORECASE), "text in white"),
    (
        re.compile(
            r"\\(?:tiny|fontsize\s*\{\s*[0-3](?:\.\d+)?(?:pt)?\s*\}|(?:scale|resize)box\s*\{\s*0(?:\.0\d*)?(?:pt)?\s*\})"
        ),
        "text in a tiny size",
    ),
    (re.compile(r"\\(?:ll|rr|c)lap\b|\\(?:raise|lower)box\s*\{\s*-?\d{3,}"), "text that is laid over other text or moved away"),
    (re.compile(r"<[a-z][^>]*\b(?:style\s*=|hidden\b)", re.IGNORECASE), "HTML with a style"),
    (re.compile(r"\\iffalse\b|\\begin\s*\{comment\}"), "a part that TeX leaves out"),
    (
        re.compile(r"^ {0,3}\[(?://|comment|_|\.)[^\]\n]*\]:\s*\S", re.MULTILINE | re.IGNORECASE),
        "a note of Markdown that is not set",
    ),
    (re.compile(r"\\(?:pdf(?:comment|annot|tooltip)|special|transparent\s*\{\s*0)"), "words of TeX that are not set"),
    (_SELECTORS, "signs that only choose a form, in a row"),
    (_BLANK, "letters that are blank"),
    (_HEAPED, "marks heaped on letters"),
)


def invisible_in(source: str) -> list[str]:
    """What of a source a reader does not see, in words; nothing where all is seen. Joiners between letters are no matter."""
    found = []
    if loose := [sign for sign in _NO_WIDTH.findall(source) if sign not in "\u200c\u200d\u00ad"]:
        names = sorted({unicodedata.name(sign, "a sign without a name").lower() for sign in loose})
        found.append(f"{len(loose)} sign{'s' if len(loose) > 1 else ''} without width ({', '.join(names[:3])})")
    return found + [words for pattern, words in _KINDS if pattern.search(source)]
