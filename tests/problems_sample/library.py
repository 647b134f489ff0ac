"""Reads the files of the sample library for the tests; the format is described in docs/sample_library.md."""

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "apps" / "problems" / "sample_library"
#: Easy problems, each with solutions that models are tried with.
FIRST_STEPS = sorted((FOLDER / "first_steps").glob("*.md"))
FILES = [*sorted(FOLDER.glob("*.md")), *FIRST_STEPS]

_CHAIN = re.compile(r"\*\*Chain (?P<letter>[A-Z]): (?P<name>.+)\*\*")
_ITEM = re.compile(r"- (?P<chain>[A-Z])(?P<number>\d+) \((?P<plus>\+?)(?P<points>\d+)\) (?P<text>.+)")
_ATTEMPT = re.compile(r"Attempt: (?P<kind>right|gap|wrong) \((?P<points>[0-7])\), (?P<name>.+)")
_RULE = re.compile(r"- (?:(?P<zero>Zero)|Deduct −(?P<deduct>\d+)|Cap (?P<cap>\d+)): (?P<text>.+)")


@dataclass(frozen=True)
class Scheme:
    """A marking scheme as its lines say it."""

    names: dict[str, str]
    items: dict[str, list[int]]
    zeros: list[str]
    deductions: list[int]
    caps: list[int]


@dataclass(frozen=True)
class SampleProblem:
    """One file of the library."""

    path: Path
    header: dict[str, object]
    statement: str
    solutions: dict[str, str]
    scheme_text: str
    attempts: list["Attempt"]


@dataclass(frozen=True)
class Attempt:
    """A solution as a student could write it, with the points that it deserves out of 7."""

    kind: str
    points: int
    text: str


def read_problem(path: Path) -> SampleProblem:
    """Split a file at its header and its second-level headings. Raises ValueError when a part is missing or doubled."""
    opening, header, body = path.read_text(encoding="utf-8").split("+++\n", 2)
    if opening:
        raise ValueError(f"{path.name}: text before the header")
    before, *parts = re.split(r"^## (.+)\n", body, flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"{path.name}: text before the first heading")
    headings = parts[0::2]
    if len(set(headings)) != len(headings):
        raise ValueError(f"{path.name}: a heading occurs twice")
    sections = {heading: text.strip() for heading, text in zip(headings, parts[1::2], strict=True)}
    solutions = {h.removeprefix("Solution: "): text for h, text in sections.items() if h.startswith("Solution: ")}
    tried = {heading: found for heading in sections if (found := _ATTEMPT.fullmatch(heading))}
    unknown = (
        set(sections)
        - {"Statement", "Hints", "Marking scheme"}
        - {f"Solution: {approach}" for approach in solutions}
        - set(tried)
    )
    if unknown or not {"Statement", "Hints", "Marking scheme"} <= set(sections):
        raise ValueError(f"{path.name}: unexpected or missing sections {sorted(unknown)}")
    attempts = [Attempt(found["kind"], int(found["points"]), sections[heading]) for heading, found in tried.items()]
    return SampleProblem(path, tomllib.loads(header), sections["Statement"], solutions, sections["Marking scheme"], attempts)


def read_scheme(text: str) -> Scheme:
    """Read every line of a marking scheme. Raises ValueError at a line that fits no form."""
    names: dict[str, str] = {}
    items: dict[str, list[int]] = defaultdict(list)
    scheme = Scheme(names, items, [], [], [])
    for line in filter(None, text.splitlines()):
        if chain := _CHAIN.fullmatch(line):
            names[chain["letter"]] = chain["name"]
        elif item := _ITEM.fullmatch(line):
            _add_item(scheme, item)
        elif rule := _RULE.fullmatch(line):
            _add_rule(scheme, rule)
        elif line != "**All chains**":
            raise ValueError(f"not a line of a marking scheme: {line}")
    return scheme


def _add_item(scheme: Scheme, item: re.Match[str]) -> None:
    earned = scheme.items[item["chain"]]
    if list(scheme.names)[-1:] != [item["chain"]]:
        raise ValueError(f"item outside its chain: {item[0]}")
    if int(item["number"]) != len(earned) + 1 or bool(item["plus"]) != bool(earned):
        raise ValueError(f"item out of order: {item[0]}")
    earned.append(int(item["points"]))


def _add_rule(scheme: Scheme, rule: re.Match[str]) -> None:
    if rule["zero"]:
        scheme.zeros.append(rule["text"])
    elif rule["deduct"]:
        scheme.deductions.append(int(rule["deduct"]))
    else:
        scheme.caps.append(int(rule["cap"]))
