"""The text of a page code: which paper, problem and page a printed sheet is for.

`L1.TOKEN.PROBLEM.PAGE.CHECK` has only characters of the alphanumeric mode of QR codes. `TOKEN` is random and belongs to a
paper; it is not the paper's number, because organisers see it next to names. `PROBLEM` is the key of a contest's problem in
base 36, 0 for all problems. `PAGE` is 0 on a cover sheet. `CHECK` is a remainder modulo 773: it finds every
single wrong sign, and all but 1 in 773 other wrong readings, where the error correction of the code fails.
"""

import re
import secrets
from dataclasses import dataclass

# Without vowels, to avoid words, and without look-alike characters.
CHARACTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"
TOKEN_LENGTH = 8
PAGES_AT_MOST = 40
_FORM = re.compile(r"L1\.([0-9A-Z]{8})\.([0-9A-Z]{1,8})\.(\d{1,2})\.([0-9A-Z]{2})")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class PageCode:
    """What a code says. `problem`: the key of a `ContestProblem`, 0 for all problems; `page`: 0 for a cover sheet."""

    token: str
    problem: int
    page: int

    @property
    def text(self) -> str:
        """The text to print as a QR code."""
        plain = f"L1.{self.token}.{_base36(self.problem)}.{self.page}"
        return f"{plain}.{_check(plain)}"

    @property
    def is_cover(self) -> bool:
        """Whether the sheets after it belong to it."""
        return self.page == 0


def token_random() -> str:
    """A new random token."""
    return "".join(secrets.choice(CHARACTERS) for _ in range(TOKEN_LENGTH))


def code_of(text: str) -> PageCode | None:
    """The code with this text; None for other codes and for one that was read wrongly."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    token, problem, page, check = found.groups()
    if _check(text.strip().rpartition(".")[0]) != check:
        return None
    return PageCode(token, int(problem, 36), int(page))


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, last = divmod(number, 36)
        digits = _DIGITS[last] + digits
    return digits or "0"


def _check(plain: str) -> str:
    first, second = divmod(int.from_bytes(plain.encode()) % 773, len(CHARACTERS))
    return CHARACTERS[first] + CHARACTERS[second]
