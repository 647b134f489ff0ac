"""Guess from a file's path whose work it is and which problem: `school/anna/1.pdf`, `anna_1.jpg`, `1/Anna Schmidt.pdf`."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.contests.models import Contest, Identity

_SPLIT = re.compile(r"[\W_]+")
_PREFIX = re.compile(r"(?:p|pb|pr|problem|q|question|task)0*(\w+)")


@dataclass(frozen=True)
class Guess:
    """A paper and a problem by their keys, or None, and the page number in the name or 0. `unknown`: why there is no paper."""

    paper: int | None = None
    problem: int | None = None
    page: int = 0
    unknown: str = ""


@dataclass(frozen=True)
class _Author:
    paper: int
    words: frozenset[str]
    exact: frozenset[str]
    school: tuple[str, ...]


class Names:
    """Names of a contest's students and labels of its problems, as files spell them."""

    def __init__(self, contest: Contest) -> None:
        rows = Identity.objects.filter(contest=contest).select_related("person")
        self.authors = [_author(row) for row in rows]
        self.problems = {" ".join(words_of(row.label)): row.pk for row in contest.problems.all()}

    def guess(self, path: str) -> Guess:
        """What a path says. A name that fits several students, or none, gives no paper, and no other part is tried."""
        *folders, name = path.split("/")
        stem = name.rpartition(".")[0] or name
        parts = [words_of(part) for part in (*folders, stem)]
        problem, page, named = self._problem(parts)
        found, unknown = self._paper(named)
        return Guess(found, problem, page, unknown)

    def _problem(self, parts: Sequence[tuple[str, ...]]) -> tuple[int | None, int, list[tuple[str, ...]]]:
        """The problem, the page, and the words without them. The end of the file's name counts first, then whole folders."""
        *folders, stem = parts
        for length, has_page in ((2, True), (1, False)):
            tail = stem[-length:]
            key = self._label(tail[:1])
            is_whole = len(stem) == length
            if len(tail) == length and key is not None and (not has_page or tail[1].isdecimal()):
                if is_whole and not folders:
                    continue  # "1.pdf" alone names no student.
                return key, int(tail[1]) if has_page else 0, [*folders, stem[:-length]]
        for number, folder in enumerate(folders):
            if (key := self._label(folder)) is not None:
                page = int(stem[-1]) if len(stem) > 1 and stem[-1].isdecimal() else 0
                return key, page, [*folders[:number], *folders[number + 1 :], stem[:-1] if page else stem]
        return None, 0, list(parts)

    def _label(self, words: Sequence[str]) -> int | None:
        text = " ".join(words)
        if (key := self.problems.get(text)) is not None:
            return key
        found = _PREFIX.fullmatch(text.replace(" ", ""))
        return self.problems.get(found[1]) if found else None

    def _paper(self, parts: Sequence[tuple[str, ...]]) -> tuple[int | None, str]:
        schools = {part for part in parts if part}
        inside = [one for one in self.authors if one.school in schools] or self.authors
        words = next((part for part in reversed(parts) if part), ())
        text = " ".join(words)
        exact = [one for one in inside if text in one.exact] or [one for one in inside if one.words == frozenset(words)]
        is_part = all(len(word) > 1 for word in words)  # An initial is no name.
        fits = exact or [one for one in inside if words and is_part and frozenset(words) <= one.words]
        if len(fits) == 1:
            return fits[0].paper, ""
        return None, f"{'Several students fit' if fits else 'No student fits'} “{text}”."[:200]


def words_of(text: str) -> tuple[str, ...]:
    """Lower-case words of a name, without accents."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return tuple(word for word in _SPLIT.split(plain.casefold()) if word)


def _author(row: Identity) -> _Author:
    names: Iterable[str] = [row.external_id, row.person.username if row.person else ""]
    exact = frozenset(" ".join(words_of(name)) for name in names if name)
    return _Author(row.paper_id, frozenset(words_of(row.name)), exact, words_of(row.school))
