"""Request remarks on the authored attempts of the easy problems, and count what is found."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.reasoning.domain.verdicts import NO_FAULT, wilson_interval
from apps.reasoning.feedback.ladder import Track
from apps.reasoning.hints.material import HintMaterial, Secret
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.ports import Dispatcher
from apps.reasoning.remarks.agreement import NoRemark, RemarkWritten, Silence
from apps.reasoning.remarks.writer import RemarkWriter
from apps.reasoning.texts.segmentation import sentences
from apps.reasoning.texts.source import source_of

#: Attempts at a time; the votes on one follow one another.
AT_ONCE = 12
DEADLINE_S = 3_600.0


@dataclass(frozen=True)
class Case:
    """An attempt; `broken` is its first broken sentence, 0 for none."""

    slug: str
    kind: str
    broken: int
    material: HintMaterial
    secret: Secret


@dataclass(frozen=True)
class Measured:
    """The result of a case, with the calls and tokens that it used."""

    case: Case
    remark: RemarkWritten | NoRemark
    calls: int
    tokens: int

    @property
    def named(self) -> int:
        """The sentence named by the remark; 0 without one."""
        return self.remark.step if isinstance(self.remark, RemarkWritten) else 0

    def row(self) -> dict[str, object]:
        """The result as a row of a JSON Lines file."""
        named = {"problem": self.case.slug, "kind": self.case.kind, "broken": self.case.broken, "calls": self.calls}
        return named | {"tokens": self.tokens, "remark": self.remark.model_dump(mode="json")}


def cases() -> list[Case]:
    """The attempts of all easy problems, those of one problem together."""
    from apps.problems.samples import FIRST_STEPS, FOLDER, first_steps, sample_read  # It needs Django.

    found = []
    for slug, attempts in first_steps().items():
        draft = sample_read(FOLDER / FIRST_STEPS / f"{slug}.md")
        secret = Secret(solutions=tuple(one.text for one in draft.solutions), scheme=(draft.scheme_text,), answer=draft.answer)
        for one in attempts:
            source = source_of(one.text)
            steps = tuple(step.text_in(source) for step in sentences(source))
            material = HintMaterial(problem=draft.statement, track=Track.REPAIR, steps=steps)
            found.append(Case(slug, one.kind, one.broken_sentence or 0, material, secret))
    return found


async def measured(
    dispatcher: Dispatcher,
    alias: Alias,
    given: Iterable[Case],
    *,
    tokens: int,
    votes: int,
    structured: bool = False,
    target: Path | None = None,
) -> list[Measured]:
    """Request a remark on each case. Each result is appended to `target` at once."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> Measured:
        run = f"{case.slug}-{case.kind}"
        writer = RemarkWriter(
            dispatcher, run, alias.name, tokens, DEADLINE_S, votes, structured, alias.closes_by, alias.context_tokens
        )
        async with places:
            remark = await writer.write(case.material, case.secret)
        result = Measured(case, remark, writer.calls, writer.spent)
        if target is not None:
            with target.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result.row(), ensure_ascii=False) + "\n")
        return result

    return list(await asyncio.gather(*(one(case) for case in given)))


def kept(target: Path) -> list[Measured]:
    """The results in a file that `measured` wrote, also after an interrupted measurement."""
    known = {(case.slug, case.kind): case for case in cases()}
    found = []
    for line in target.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        shape = RemarkWritten if "step" in row["remark"] else NoRemark
        remark = shape.model_validate(row["remark"])
        found.append(Measured(known[row["problem"], row["kind"]], remark, row["calls"], row["tokens"]))
    return found


def table(results: Sequence[Measured]) -> str:
    """The figures in Markdown, each share with Wilson's interval at 95 %."""
    wrong = [one for one in results if one.case.kind == "wrong"]
    gap = [one for one in results if one.case.kind == "gap"]
    right = [one for one in results if one.case.kind == "right"]
    votes = [(one.case, vote) for one in results for vote in one.remark.votes]
    read = [(case, vote) for case, vote in votes if vote.is_valid]
    broken = [(case, vote) for case, vote in read if case.broken]
    rows = [
        ("first broken sentence found, wrong attempts", sum(_is_found(one) for one in wrong), len(wrong)),
        ("first broken sentence found, attempts with a gap", sum(_is_found(one) for one in gap), len(gap)),
        ("remark at another sentence, wrong or gap", sum(_is_misplaced(one) for one in wrong + gap), len(wrong + gap)),
        ("false alarm on a right attempt", sum(one.named > 0 for one in right), len(right)),
        *((f"silent: {why}", _silent(results, why), len(results)) for why in Silence),
        ("votes read", len(read), len(votes)),
        ("single votes that name the first broken sentence", sum(v.first_fault == c.broken for c, v in broken), len(broken)),
        ("single votes that find nothing in a broken attempt", sum(vote.is_pass for _, vote in broken), len(broken)),
        ("single votes that find nothing in a right attempt", *_passes(read)),
    ]
    lines = ["| what | count | of | share | interval |", "|---|--:|--:|--:|---|"]
    calls, tokens = sum(one.calls for one in results), sum(one.tokens for one in results)
    return "\n".join([*lines, *(_row(*row) for row in rows), "", f"{calls:,} calls, {tokens:,} tokens with prompts."])


def _is_found(one: Measured) -> bool:
    return one.named == one.case.broken > 0


def _is_misplaced(one: Measured) -> bool:
    return one.named > 0 and one.named != one.case.broken


def _silent(results: Sequence[Measured], why: Silence) -> int:
    return Counter(one.remark.reason for one in results if isinstance(one.remark, NoRemark))[why]


def _passes(read: Sequence[tuple[Case, object]]) -> tuple[int, int]:
    said = [getattr(vote, "first_fault", None) for case, vote in read if not case.broken]
    return sum(fault == NO_FAULT for fault in said), len(said)


def _row(what: str, count: int, of: int) -> str:
    if not of:
        return f"| {what} | 0 | 0 | – | – |"
    low, high = wilson_interval(count, of)
    return f"| {what} | {count} | {of} | {count / of:.2f} | {low:.2f} to {high:.2f} |"
