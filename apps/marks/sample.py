"""The sample contest of the embedded mode: three problems and 24 authored texts, half of them marked.

Everything is created through the services that people use: texts are handed in, and coaches claim scripts in their drawn order,
judge them by commands and seal. Which scripts stay open is therefore random. The files of `sample_contest/` hold texts for each
problem, with the judgements of a first and a second marker.
"""

import tomllib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import AuthorKind, Contest, ContestKind, ContestProblem, Paper
from apps.contests.services import (
    Settings,
    author_add,
    captain_set,
    coach_add,
    contest_create,
    contest_move,
    problem_add,
    student_add,
)
from apps.marks.models import MarkingCase, MarkingTask, PassReason
from apps.marks.sealing.sealing import mark_seal
from apps.marks.setups import Choices, cases_prepare, setup_save
from apps.marks.suggestions.suggesting import authored_keep
from apps.marks.workspace.claims import task_next, task_of_case
from apps.marks.workspace.drafts import Command, command_apply, draft_of, version_active
from apps.marks.workspace.passes import task_pass
from apps.problems.models import Problem
from apps.problems.samples import ORIGIN
from apps.reasoning.marking.suggestion import SuggestionBody
from apps.reasoning.texts.anchors import anchor_make
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of
from apps.submissions.models import Origin, Submission, TextFormat
from apps.submissions.services import version_add, version_hand_in

TITLE = "Sample contest (authored example)"
FOLDER = Path(__file__).with_name("sample_contest")
STUDENT = "sample student"
QUESTION = "The text works with signs and not with subsets. Does it belong to chain A?"


class SampleRefused(Exception):
    """The sample contest cannot be created; the message names what is missing."""


class SampleBroken(ValueError):
    """A file of the sample contest has the wrong format; the message names the file and the fault."""


@dataclass(frozen=True)
class Judgement:
    """A marker's judgement: the arguments of commands."""

    claim: str
    band: str
    reason: str = ""
    approach: str = ""
    comment: str = ""
    verdicts: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Script:
    """A text of the sample contest. `kind` describes it; `suggestion` is the authored answer of a grader."""

    author: str
    kind: str
    text: str
    judgements: tuple[Judgement, ...]
    suggestion: SuggestionBody | None = None


@dataclass(frozen=True)
class Plan:
    """How much of a problem is marked: number of markers, and scripts taken by each of the three coaches.

    `both`: authors whose scripts the first two coaches mark before others, so that they mark the same scripts.
    """

    markers: int
    scripts: tuple[int, int, int]
    asks: bool = False
    both: tuple[str, ...] = ()


PLANS = (
    Plan(2, (7, 6, 0)),
    Plan(2, (2, 1, 0), both=("Carla Nyberg", "Elif Sørensen", "Ada Lindqvist", "Bruno Castellani")),
    Plan(1, (0, 0, 2), asks=True),
)


def scripts_read(path: Path) -> list[Script]:
    """The texts of a file: `=== author`, a TOML header, a line `---`, the text. Raises `SampleBroken`."""
    try:
        _, *pieces = ("\n" + path.read_text(encoding="utf-8")).split("\n=== ")
        return [_script(piece) for piece in pieces]
    except (ValueError, KeyError, TypeError) as error:
        raise SampleBroken(f"{path.name}: {error}") from error


def sample_files(folder: Path = FOLDER) -> list[tuple[str, list[Script]]]:
    """The slug and the texts of each problem, in the order of the contest."""
    return [(path.stem.partition("-")[2], scripts_read(path)) for path in sorted(folder.glob("*.md"))]


def sample_problems(slugs: Sequence[str]) -> list[Problem]:
    """These problems from the sample library. Raises `SampleRefused`."""
    problems = {problem.external_id: problem for problem in Problem.objects.filter(origin=ORIGIN)}
    if missing := [slug for slug in slugs if slug not in problems]:
        raise SampleRefused(f"The sample library has no {', '.join(missing)}. Run `manage.py load_samples` first.")
    return [problems[slug] for slug in slugs]


def sample_contest_load(*, coaches: tuple[User, User, User], student: User) -> Contest | None:
    """Create the sample contest; None if it exists. Raises `SampleRefused` without the sample library."""
    if Contest.objects.filter(title=TITLE).exists():
        return None
    files = sample_files()
    problems = sample_problems([slug for slug, _ in files])
    # Short transactions: one for all submissions, then one per mark.
    with transaction.atomic():
        contest = contest_opened(TITLE, coaches, problems)
        scripts_hand_in(contest, [scripts for _, scripts in files], student)
        contest = contest_move(contest=contest, verb="mark", based_on=contest.row_version)
    known = scripts_known(files)
    for row, plan in zip(contest.problems.select_related("contest", "problem").order_by("position"), PLANS, strict=True):
        _marked(row, plan, coaches, known)
    return contest


def scripts_known(files: Sequence[tuple[str, list[Script]]]) -> dict[str, Script]:
    """The texts by their source, as versions store it."""
    return {source_of(script.text): script for _, scripts in files for script in scripts}


def contest_opened(
    title: str, coaches: tuple[User, User, User], problems: list[Problem], kind: str = ContestKind.CONTEST
) -> Contest:
    """A contest open for submissions; the coaches are captains in turn, and the first one organises it."""
    contest = contest_create(settings=Settings(title=title, kind=kind), by=coaches[0])
    for coach in coaches[1:]:
        coach_add(contest=contest, person=coach)
    for problem, captain in zip(problems, coaches, strict=False):
        captain_set(row=problem_add(contest=contest, problem=problem), captain=captain)
    return contest_move(contest=contest, verb="open", based_on=contest.row_version)


def scripts_hand_in(contest: Contest, texts: list[list[Script]], student: User) -> None:
    """Hand in all texts: the sample student's through the editor, the others as an import does."""
    problems = list(contest.problems.order_by("position"))
    papers: dict[str, Paper] = {STUDENT: student_add(contest=contest, person=student)}
    for problem, scripts in zip(problems, texts, strict=True):
        for script in scripts:
            if script.author == STUDENT:
                version_hand_in(
                    paper=papers[STUDENT], problem=problem, text=script.text, text_format=TextFormat.MARKDOWN, based_on=0
                )
                continue
            if script.author not in papers:
                papers[script.author] = author_add(contest=contest, name=script.author, kind=AuthorKind.STUDENT)
            submission = Submission.objects.create(paper=papers[script.author], problem=problem)
            version_add(submission=submission, text=script.text, text_format=TextFormat.MARKDOWN, origin=Origin.IMPORTED)


def _marked(problem: ContestProblem, plan: Plan, coaches: tuple[User, User, User], known: dict[str, Script]) -> None:
    scheme = problem.problem.marking_schemes.filter(versions__status="active").first()
    setup_save(problem=problem, choices=Choices(scheme=scheme, markers=plan.markers), by=coaches[0])
    cases_prepare(problem)
    cases = {known[case.version.source].author: case for case in problem.cases.select_related("version")}
    for coach in coaches[: plan.markers]:
        for author in plan.both:
            script_seal(task_of_case(problem, coach, cases[author].pk), coach, known, seconds=120.0)
    for coach, count in zip(coaches, plan.scripts, strict=True):
        for number in range(count):
            script_seal(task_next(problem, coach), coach, known, seconds=95.0 + 20 * number)
    _suggested(problem, cases, known)
    if plan.asks and (task := task_next(problem, coaches[1])) is not None:
        command_apply(task=task, user=coaches[1], command=_command("band", {"band": "solution"}, 0))
        task_pass(task=task, user=coaches[1], reason=PassReason.APPROACH, words=QUESTION)


def _suggested(problem: ContestProblem, cases: dict[str, MarkingCase], known: dict[str, Script]) -> None:
    """Store the authored suggestions under the scripted grader, which pages label as written by people."""
    scheme = version_active(problem.setup)
    for case in cases.values():
        if (body := known[case.version.source].suggestion) is not None and scheme is not None:
            authored_keep(case, scheme, body)


def script_seal(task: MarkingTask | None, coach: User, known: dict[str, Script], *, seconds: float) -> None:
    """Judge a claimed script as its file says and seal the mark; does nothing without a task.

    `known`: the scripts by source. The second marker uses the second judgement, if there is one.
    """
    if task is None:
        return
    others = MarkingTask.objects.filter(case=task.case, done_at__isnull=False).count()
    script = known[task.case.version.source]
    judgement = script.judgements[min(others, len(script.judgements) - 1)]
    for verb, args in commands_of(judgement, task.case.version.source):
        command_apply(task=task, user=coach, command=_command(verb, args, draft_of(task, coach).row_version))
    mark_seal(task=task, user=coach, row_version=draft_of(task, coach).row_version, active_seconds=seconds)


def commands_of(judgement: Judgement, source: str) -> list[tuple[str, dict[str, Any]]]:
    """The commands by which a marker enters this judgement."""
    commands: list[tuple[str, dict[str, Any]]] = [("band", {"band": judgement.band}), ("claim", {"line": judgement.claim})]
    texts = {"reason": judgement.reason, "approach": judgement.approach}
    commands += [(verb, {"words": words}) for verb, words in texts.items() if words]
    for number, verdict in enumerate(judgement.verdicts, 1):
        rest = {key: value for key, value in verdict.items() if key != "at"}
        commands.append(("verdict", {"id": f"v{number}", **_place(source, verdict["at"]), **rest}))
    if judgement.comment:
        commands.append(("comment", {"id": "c1", "step": 0, "words": judgement.comment}))
    return commands


def _place(source: str, words: str) -> dict[str, Any]:
    """The step that contains these words, and their place in code points."""
    start = source.index(words)
    step = next(step for step in segment(source) if step.start <= start < step.end)
    return {"step": step.number, "anchor": {"start": start, "end": min(start + len(words), step.end)}}


def _command(verb: str, args: dict[str, Any], row_version: int) -> Command:
    return Command(id=uuid.uuid4(), verb=verb, args=args, row_version=row_version)


def _script(piece: str) -> Script:
    author, _, rest = piece.partition("\n")
    head, divider, text = rest.partition("\n---\n")
    if not divider:
        raise ValueError(f"the text of {author} has no header")
    facts = tomllib.loads(head)
    judgements = tuple(_judgement(one) for one in facts.get("mark", []))
    given = facts.get("suggestion")
    suggestion = _suggestion(given, text.strip()) if given else None
    return Script(author.strip(), facts["kind"], text.strip(), judgements, suggestion)


def _suggestion(values: dict[str, Any], text: str) -> SuggestionBody:
    """The authored answer of a grader: `points` with their shares, `items` by code with reasons, findings at words."""
    source = source_of(text)
    findings = []
    for number, one in enumerate(values.get("finding", []), 1):
        place = _place(source, one["at"])
        anchor = anchor_make(source, place["anchor"]["start"], place["anchor"]["end"])
        rest = {key: value for key, value in one.items() if key != "at"}
        findings.append({"id": f"f{number}", "step": place["step"], "anchor": anchor, **rest})
    return SuggestionBody.model_validate({
        "findings": findings,
        "items": [{"code": code, "reason": reason} for code, reason in values.get("items", {}).items()],
        "distribution": [{"points": points, "share": share} for points, share in values.get("points", {}).items()],
        "remarks": values.get("remarks", ""),
    })  # fmt: skip


def _judgement(values: dict[str, Any]) -> Judgement:
    verdicts = tuple(values.get("verdict", []))
    return Judgement(**{name: value for name, value in values.items() if name != "verdict"}, verdicts=verdicts)
