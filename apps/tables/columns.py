"""What the columns of a table mean: the meanings, a guess from header and cells, and the form that is remembered."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import models

from apps.files.grids import Grid

_LOOKED_AT = 200
#: The first columns of a download of rows that were left out.
LEFT_OUT_HEADER = ("Line", "Reason")


class Role(models.TextChoices):
    """Meaning of a column."""

    IGNORE = "", "Leave out"
    NAME = "name", "Name"
    GIVEN = "given", "First name"
    FAMILY = "family", "Family name"
    USERNAME = "username", "User name"
    EMAIL = "email", "E-mail"
    SCHOOL = "school", "School"
    GROUP = "group", "Group"
    EXTERNAL = "external", "Id in another system"
    PROBLEM = "problem", "Problem"
    TITLE = "title", "Title of the problem"
    STATEMENT = "statement", "Statement"
    ANSWER = "answer", "Expected answer"
    REFERENCE = "reference", "Reference solution"
    GUIDELINES = "guidelines", "Guidelines (become a scheme)"
    TOPIC = "topic", "Topic"
    TEXT = "text", "Text of the student"
    POINTS = "points", "Points"
    OUT_OF = "out_of", "Maximum points"
    MARKER = "marker", "Marker"
    REMARK = "remark", "Remark of the marker"
    TEXT_OF = "text_of", "Text for problem …"
    POINTS_OF = "points_of", "Points for problem …"


#: Meanings that several columns may have.
REPEATABLE = frozenset({Role.IGNORE, Role.REFERENCE, Role.TEXT_OF, Role.POINTS_OF})
#: Meanings of columns that belong to one problem of a wide table.
OF_PROBLEM = frozenset({Role.TEXT_OF, Role.POINTS_OF})
OF_PEOPLE = frozenset({Role.NAME, Role.GIVEN, Role.FAMILY, Role.USERNAME, Role.EMAIL})

_WORDS: dict[Role, str] = {
    Role.NAME: "name, student, student name, full name, author, participant, contestant, grading id, schuler, teilnehmer, nom "
    "complet, nombre, nev, candidate",
    Role.GIVEN: "first name, given name, forename, vorname, prenom, firstname, keresztnev",
    Role.FAMILY: "last name, family name, surname, nachname, familienname, nom, apellido, lastname, vezeteknev, apellidos",
    Role.USERNAME: "user name, username, user, login, account, benutzername, benutzer",
    Role.EMAIL: "e mail, email, mail, e mail address, email address, correo",
    Role.SCHOOL: "school, schule, ecole, escuela, iskola, institution, college, team school, schulname",
    Role.GROUP: "group, gruppe, groupe, grupo, team, camp, class, klasse",
    Role.EXTERNAL: "id, external id, student id, number, nr, no, code, registration, matrikelnummer, external",
    Role.PROBLEM: "problem, problem id, problem name, question, task, aufgabe, probleme, problema, feladat, problem idx, label",
    Role.TITLE: "title, problem title, titel, titre",
    Role.STATEMENT: "statement, problem statement, problem text, question text, aufgabentext, enunciado, enonce",
    Role.ANSWER: "expected answer, short answer, final answer, correct answer",
    Role.REFERENCE: "reference, reference solution, model solution, official solution, musterlosung, references",
    Role.GUIDELINES: "guidelines, grading guidelines, marking scheme, scheme, rubric, grading scheme, scheme text, "
    "marking guidelines, bewertungsschema, punkteschema, mark scheme",
    Role.TOPIC: "topic, category, subject, thema, area",
    Role.TEXT: "solution of the student, answer of the student, text of the student, "
    "text, response, submission, student solution, student answer, script, proof, student text, answer text, "
    "written solution, losungstext",
    Role.POINTS: "points, score, mark, marks, grade, punkte, note, puntos, pont, pontszam, pts, human points, points given",
    Role.OUT_OF: "max, maximum, out of, max points, maximum points, points max, max score, maximalpunkte, scale",
    Role.MARKER: "marker, grader, rater, marked by, corrector, korrektor, examiner, graded by, coordinator",
    Role.REMARK: "comment, remark, comments, remarks, kommentar, bemerkung, feedback, notes",
}  # fmt: skip
_BY_WORD = {word.strip(): role for role, words in _WORDS.items() for word in words.split(",")}
_TOTALS = {"total", "sum", "rank", "place", "award", "medal", "average", "summe", "gesamt", "rang", "platz", "percent"}
_WIDE = re.compile(
    r"(?:(?P<word>problem|question|task|aufgabe|probl[eè]me|problema|feladat|exercise|prob|[pq])\s*[.:#_-]?\s*)?"
    r"(?P<label>[A-Z]?\d{1,3}[a-z]?|(?<=\s)[A-Z])\s*[-:–]?\s*"
    r"(?P<what>points|pts|score|mark|text|answer|solution|response)?\s*"
    r"(?:[(/\[]\s*(?:max\.?\s*|/\s*|out of\s*)?(?P<most>\d+(?:[.,]\d+)?)\s*(?:points|pts|p)?\s*[)\]]?)?",
    re.IGNORECASE,
)
#: A header such as `Points (7)`.
_WITH_MOST = re.compile(r"(?P<word>[^(/\[]+)[(/\[]\s*(?:max\.?\s*|out of\s*)?(?P<most>\d+(?:[.,]\d+)?)\s*[)\]]?")
_POINTS_CELL = re.compile(r"[-–—]|\d{1,3}(?:[.,]\d{1,3})?(?:\s*/\s*\d{1,3}(?:[.,]\d+)?)?")
#: A comma before exactly three digits may separate thousands or decimals.
_UNCLEAR = re.compile(r"[1-9]\d{0,2}(,\d{3})+")
_POINT_WORDS = {"points", "pts", "score", "mark"}


@dataclass(frozen=True)
class Column:
    """The meaning of a column. `label`: its problem, for columns of one problem; `out_of`: the maximum, from the header."""

    role: str = Role.IGNORE
    label: str = ""
    out_of: str = ""


def header_digest(names: Iterable[str]) -> str:
    """A digest of a header that ignores case and white space: the same form of file gets the same meanings."""
    return hashlib.sha256("\x1f".join(_plain(name) for name in names).encode()).hexdigest()


def columns_guess(grid: Grid, labels: Iterable[str] = ()) -> list[Column]:
    """Guess the meaning of each column. `labels`: names of problems of the contest, for headers that are just such a name."""
    known = {label.casefold() for label in labels if label}
    columns = [
        _worded(name) or _wide(name, list(islice(grid.column(index), _LOOKED_AT)), known)
        for index, name in enumerate(grid.names)
    ]
    return _once(_by_context(grid, columns))


def columns_json(columns: Sequence[Column]) -> list[list[str]]:
    """The form in which meanings are stored."""
    return [[str(column.role), column.label, column.out_of] for column in columns]


def columns_read(stored: Any, width: int) -> list[Column] | None:
    """The stored meanings of `width` columns; None if there are none or they are of another table."""
    if not isinstance(stored, list) or len(stored) != width:
        return None
    return [Column(role if role in Role.values else Role.IGNORE, label, out_of) for role, label, out_of in stored]


def columns_fault(columns: Sequence[Column]) -> str:
    """What is wrong with the meanings as a whole; empty if nothing is."""
    seen: set[str] = set()
    for column in columns:
        if column.role in seen:
            return f"Two columns mean “{Role(column.role).label}”. Leave one of them out."
        if column.role not in REPEATABLE:
            seen.add(column.role)
        if column.role in OF_PROBLEM and not column.label:
            return f"A column means “{Role(column.role).label}”, but its problem is missing. Enter the problem's label."
    roles = {column.role for column in columns}
    if not roles & (OF_PEOPLE | {Role.STATEMENT}):
        return "No column has names of people or statements of problems. Choose the meaning of at least one."
    if roles & {Role.TEXT, Role.POINTS, Role.STATEMENT} and Role.PROBLEM not in roles and Role.TITLE not in roles:
        return "No column names the problem. Choose the one that does."
    return ""


def folded(text: str) -> str:
    """A name without accents, case and repeated white space, for comparison."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())


def decimal(word: str) -> str:
    """A number with a point for a decimal comma; an unclear one such as `1,000` stays."""
    return word if is_unclear(word) else word.replace(",", ".")


def is_unclear(word: str) -> bool:
    """Whether the comma of a number may separate thousands or decimals."""
    return bool(_UNCLEAR.fullmatch(word))


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[^\w]|_", " ", folded(name)).split())


def _worded(name: str) -> Column | None:
    """The meaning of a header by its words alone, such as `School` or `Points (7)`; None without one."""
    if role := _BY_WORD.get(_plain(name)):
        return Column(role)
    found = _WITH_MOST.fullmatch(name.strip())
    if found and _BY_WORD.get(_plain(found["word"])) == Role.POINTS:
        return Column(Role.POINTS, out_of=decimal(found["most"]))
    return None


def _wide(name: str, cells: list[str], known: set[str]) -> Column:
    """The meaning of a header such as `P1`, `Problem 2 (7)`, `A3 points`, or the name of a problem of the contest."""
    found = _WIDE.fullmatch(name.strip())
    if _plain(name) in _TOTALS or not (found or name.casefold() in known):
        return Column(Role.EMAIL) if cells and all("@" in cell for cell in cells) else Column()
    label = found["label"] if found and name.casefold() not in known else name
    most = decimal(found["most"] or "") if found else ""
    what = (found["what"] or "").casefold() if found else ""
    is_points = sum(bool(_POINTS_CELL.fullmatch(cell)) for cell in cells) >= 0.8 * len(cells)
    if what in _POINT_WORDS or (not what and is_points):
        return Column(Role.POINTS_OF, label, most)
    return Column(Role.TEXT_OF, label)


def _by_context(grid: Grid, columns: list[Column]) -> list[Column]:
    """Decide words that depend on the other columns: "solution", "answer", "problem" with long cells, "name" without people."""
    roles = {column.role for column in columns}
    plain = [_plain(name) for name in grid.names]
    decided = list(columns)
    for index, word in enumerate(plain):
        has_people = bool(roles & OF_PEOPLE)
        if word in ("solution", "solutions", "losung", "megoldas") or re.fullmatch(r"(reference )?solution \d", word):
            is_text = Role.TEXT not in roles and has_people and Role.STATEMENT not in roles and "reference" not in word
            decided[index] = Column(Role.TEXT if is_text else Role.REFERENCE)
        elif word in ("answer", "antwort", "reponse"):
            decided[index] = Column(Role.TEXT if has_people and Role.TEXT not in roles else Role.ANSWER)
        elif word == "problem" and _is_long(grid.column(index)):
            decided[index] = Column(Role.STATEMENT)
        elif word == "name" and not roles & {Role.TEXT, Role.POINTS, *OF_PROBLEM, Role.SCHOOL, Role.EMAIL, Role.USERNAME}:
            decided[index] = Column(Role.PROBLEM if Role.STATEMENT in roles and Role.PROBLEM not in roles else Role.NAME)
        roles = {column.role for column in decided}
    if Role.STATEMENT in roles and not roles & {Role.PROBLEM, Role.TITLE} and "id" in plain:
        decided[plain.index("id")] = Column(Role.PROBLEM)
    if Role.FAMILY in roles and Role.GIVEN not in roles and Role.NAME not in roles:
        decided = [Column(Role.NAME) if column.role == Role.FAMILY else column for column in decided]
    return decided


def _is_long(cells: list[str]) -> bool:
    return bool(cells) and sum(len(cell) for cell in cells[:_LOOKED_AT]) / len(cells[:_LOOKED_AT]) > 40


def _once(columns: list[Column]) -> list[Column]:
    seen: set[str] = set()
    kept = []
    for column in columns:
        kept.append(Column() if column.role in seen else column)
        if column.role not in REPEATABLE:
            seen.add(column.role)
    return kept
