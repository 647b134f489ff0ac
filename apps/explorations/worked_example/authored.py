"""Reads the authored Markdown files of the worked example. An error names the invalid file.

A lemma is `# Lemma 7`, its statement, `## Steps` as a numbered list, and votes. A vote is `## Vote 1: holds` or
`## Vote 1: first wrong step 4`, an optional sentence, and one numbered remark per step; a remark that begins with `[critical]`
or `[gap]` calls the step unsound, one with `[note]` does not.
"""

import re
from pathlib import Path
from typing import Literal

from apps.reasoning.domain.values import Value
from apps.reasoning.domain.verdicts import NO_FAULT

HERE = Path(__file__).parent

_LEMMA = re.compile(r"^# Lemma (\d+(?:-fixed)?)\s*$", re.MULTILINE)
_SECTION = re.compile(r"^## (.+?)\s*$", re.MULTILINE)
_VOTE = re.compile(r"Vote (\d+): (?:holds|first wrong step (\d+))\Z")
_ITEM = re.compile(r"^(\d+)\. ", re.MULTILINE)
_SEVERITY = re.compile(r"\[(critical|gap|note)\] ")
_CLAIM = re.compile(r"\n+Claim: (complete|partial)\s*\Z")

Severity = Literal["critical", "gap", "note", ""]
Claim = Literal["complete", "partial"]


class AuthoredTextError(ValueError):
    """A file of the worked example is invalid; the message names the file and the place."""


class Remark(Value):
    """A verifier's remark on one step."""

    step: int
    sound: bool
    severity: Severity = ""
    text: str


class Vote(Value):
    """One verifier's log, with an optional opening sentence."""

    opening: str
    remarks: tuple[Remark, ...]
    first_fault: int


class Lemma(Value):
    """A lemma version under its label (`7`, `7-fixed`), with its votes."""

    label: str
    statement: str
    steps: tuple[str, ...]
    votes: tuple[Vote, ...]


class Proof(Value):
    """A version of the final proof; `opening` is the text before it."""

    opening: str
    steps: tuple[str, ...]
    votes: tuple[Vote, ...]


class Work(Value):
    """A reasoner's text and the claim at its end."""

    text: str
    claim: Claim


def read_problem() -> tuple[str, str]:
    """Title and statement."""
    heading, _, statement = _text("problem.md").partition("\n")
    return heading.removeprefix("#").strip(), statement.strip()


def read_work(rollout: int, round_: int) -> Work:
    """The reasoner's text of a round. Raises `AuthoredTextError` without a claim at its end."""
    name = f"s{rollout}.r{round_}.reason.md"
    text = _text(name)
    claim = _CLAIM.search(text)
    if claim is None:
        raise AuthoredTextError(f"{name}: the last line must be `Claim: complete` or `Claim: partial`.")
    return Work.model_validate({"text": text[: claim.start()].strip(), "claim": claim.group(1)})


def read_lemmas(rollout: int, round_: int) -> tuple[str, tuple[Lemma, ...]]:
    """The summariser's opening sentence and the lemmas of a round. Raises `AuthoredTextError`."""
    name = f"s{rollout}.r{round_}.lemmas.md"
    opening, *pieces = _LEMMA.split(_text(name))
    pairs = zip(pieces[::2], pieces[1::2], strict=True)
    return opening.strip(), tuple(_lemma(f"{name}, lemma {label}", label, body) for label, body in pairs)


def read_proof(number: int) -> Proof:
    """A version of the final proof with its votes. Raises `AuthoredTextError`."""
    name = f"proof.{number}.md"
    opening, steps, votes = _parts(name, _text(name))
    return Proof(opening=opening, steps=steps, votes=votes)


def _lemma(where: str, label: str, body: str) -> Lemma:
    statement, steps, votes = _parts(where, body)
    return Lemma(label=label, statement=statement, steps=steps, votes=votes)


def _parts(where: str, text: str) -> tuple[str, tuple[str, ...], tuple[Vote, ...]]:
    """The text before the first section, the steps, and the votes in order."""
    opening, *pieces = _SECTION.split(text)
    sections = list(zip(pieces[::2], pieces[1::2], strict=True))
    if not opening.strip() or not sections or sections[0][0] != "Steps":
        raise AuthoredTextError(f"{where}: begin with a text, followed by `## Steps`.")
    _, steps = _items(where, sections[0][1])
    votes = tuple(_vote(f"{where}, {title}", title, body, number) for number, (title, body) in enumerate(sections[1:], 1))
    return opening.strip(), steps, votes


def _vote(where: str, title: str, body: str, number: int) -> Vote:
    heading = _VOTE.match(title)
    if heading is None or int(heading.group(1)) != number:
        raise AuthoredTextError(f"{where}: expected vote {number}, as `## Vote {number}: holds` or `… first wrong step 2`.")
    opening, items = _items(where, body)
    remarks = tuple(_remark(step, item) for step, item in enumerate(items, 1))
    return Vote(opening=opening, remarks=remarks, first_fault=int(heading.group(2)) if heading.group(2) else NO_FAULT)


def _remark(step: int, item: str) -> Remark:
    severity = found.group(1) if (found := _SEVERITY.match(item)) else ""
    text = item[found.end() :] if found else item
    return Remark.model_validate({"step": step, "sound": severity in ("", "note"), "severity": severity, "text": text})


def _items(where: str, text: str) -> tuple[str, tuple[str, ...]]:
    """The text before a numbered list, and its items."""
    opening, *pieces = _ITEM.split(text)
    if pieces[::2] != [str(number) for number in range(1, len(pieces) // 2 + 1)] or not pieces:
        raise AuthoredTextError(f"{where}: expected a list numbered from 1 without gaps.")
    return opening.strip(), tuple(piece.strip() for piece in pieces[1::2])


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
