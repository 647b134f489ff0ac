"""Layout of graded folders: authors' folders with one text per problem, and `grader-comments.md` with `A1: 7/10`, …"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

COMMENTS = "grader-comments.md"
_PROBLEM = re.compile(r"^#{1,3}[ \t]*Problem[ \t]*$", re.MULTILINE | re.IGNORECASE)
_SUBMISSION = re.compile(r"^#{1,3}[ \t]*(?:Submission|Solution|Proof)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_JUDGED = re.compile(r"^(\S{1,20}):[ \t]*(\d+(?:\.\d+)?)[ \t]*/[ \t]*(\d+(?:\.\d+)?)[ \t]*$", re.MULTILINE)
_LAST_PART = re.compile(r"[-_ ]([A-Za-z]?\d{1,3})$")


def author_of(folder: PurePosixPath) -> str:
    """The author: the folder below `submissions`, else the top folder; "" if there is none."""
    parts = folder.parts
    below = parts.index("submissions") + 1 if "submissions" in parts else 0
    return parts[below] if len(parts) > below else ""


def statement_and_body(text: str) -> tuple[str, str]:
    """The text below the heading "Problem", "" if there is none, and below "Submission", "Solution" or "Proof"."""
    asked, handed_in = _PROBLEM.search(text), _SUBMISSION.search(text)
    statement = text[asked.end() : handed_in.start()].strip() if asked and handed_in and asked.end() < handed_in.start() else ""
    return statement, (text[handed_in.end() :] if handed_in else text).strip()


def comments_of(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Lower-case label, points, maximum and words of each judged problem; other lines belong to the words."""
    found = list(_JUDGED.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    for one, end in zip(found, ends, strict=False):
        yield one[1].casefold(), one[2], one[3], text[one.end() : end].strip()


def last_part(name: str) -> str:
    """A label at the end of a name, such as B3 of `putnam_2025_B3`; "" if there is none."""
    found = _LAST_PART.search(name)
    return found[1] if found else ""
