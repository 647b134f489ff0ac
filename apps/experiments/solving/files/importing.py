"""Import of an Inspect log as an external method: its samples become finished cells without a run."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, count
from typing import BinaryIO

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from apps.experiments.models import CellScore, Experiment, SolvingCell, SolvingState
from apps.experiments.refusals import CELLS_AT_MOST, ExperimentRefused
from apps.experiments.solving.files.inspect_reading import LogReader, LogWrong, Score, Summary
from apps.experiments.solving.manifest import EXTERNAL, NAME_LENGTH, Manifest, ManifestWrong, Method, Scorer, manifest_of
from apps.experiments.solving.people.sampling import sample_draw
from apps.experiments.solving.services import items_chosen, manifest_stored, scoring_reopen
from apps.problem_sets.models import ProblemSetItem
from apps.reasoning.answers.points import NOTHING, answer_points
from apps.reasoning.graph.statements import normalise_statement

#: The id of the answer of an external cell.
SAMPLE = "sample"
FAILED = "the sample ended with an error"
_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: Shares that two decimals cannot hold are kept as points of this scale.
_FINE = 1_000
_BATCH = 500
SCORERS_AT_MOST = 20


@dataclass
class Report:
    """What an import did: numbers of cells, and sentences about what is not as it could be."""

    method: str
    cells: int = 0
    scorers: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        scorers = f", scored by {', '.join(self.scorers)}" if self.scorers else ""
        return " ".join([f"{self.method} has {_counted(self.cells, 'cell')}{scorers}.", *self.sentences])


@dataclass(frozen=True)
class _Taken:
    """A sample with its problem, and the text that it answered; "" if it ended with an error."""

    item: ProblemSetItem
    summary: Summary
    answer: str


def log_import(
    *, experiment: Experiment, file: BinaryIO, method: str, full: float = 1.0, hidden: Set[int] = frozenset()
) -> Report:
    """Add the samples of a log as the method `method`, in one transaction. Graders of the experiment then grade their texts.

    `full`: the value of a full score. `hidden`: items that the importer must not see, whose samples are left out. Raises
    `LogWrong`, or `ExperimentRefused` if the problems cannot be read.
    """
    if not 0 < full < math.inf:
        raise LogWrong("A full score is a number above 0, such as 1 or 7.")
    manifest, report = manifest_stored(Experiment.objects.get(pk=experiment.pk)), Report(method)
    if method in {one.name for one in manifest.methods}:
        raise LogWrong(f"The experiment already has a method {method}. Give this one another name.")
    items = [item for item in items_chosen(manifest) if item.pk not in hidden]
    with LogReader(file) as log:
        taken = _matched(log, items, manifest.repeats, report)
        if not taken:
            raise LogWrong(
                " ".join(["Nothing was imported, because no sample fits a cell of the experiment.", *report.sentences])
            )
        names = _scorer_names(manifest, [one.summary for one in taken])
        larger = _larger(manifest, log, method, names)
        budget = _budget(manifest, log.header.eval.config.token_limit, report)
    with transaction.atomic():
        locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
        if manifest_stored(locked) != manifest:
            raise LogWrong("The experiment was changed meanwhile. Import the log again.")
        if locked.solving_cells.count() + len(taken) > CELLS_AT_MOST:
            raise LogWrong(f"Nothing was imported: an experiment has at most {CELLS_AT_MOST:,} cells.")
        cells = _cells(locked, method, manifest.teams[0].name, budget, taken)
        scores = [score for cell, one in zip(cells, taken, strict=True) for score in _scores(cell, one, larger, names, full)]
        CellScore.objects.bulk_create(scores, batch_size=_BATCH)
        Experiment.objects.filter(pk=locked.pk).update(manifest=larger.model_dump(mode="json"))
        sample_draw(locked, larger)
        scoring_reopen(locked)
    report.cells, report.scorers = len(cells), list(dict.fromkeys(score.scorer for score in scores))
    _add_unscored(report, scores)
    return report


@transaction.atomic
def external_remove(*, experiment: Experiment, method: str) -> int:
    """Delete an external method with its cells, and the imported scorers that only it had. Returns the number of cells.

    Raises `ExperimentRefused` for another method or the baseline.
    """
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    manifest = manifest_stored(locked)
    if method not in manifest.external:
        raise ExperimentRefused(f"There is no external method {method}.")
    if method == manifest.baseline:
        raise ExperimentRefused(f"{method} is the baseline of the experiment, so it stays.")
    cells = locked.solving_cells.filter(method=method)
    count = cells.count()
    cells.delete()
    used = set(CellScore.objects.filter(cell__experiment=locked).order_by().values_list("scorer", flat=True).distinct())
    smaller = manifest.model_copy(
        update={
            "methods": tuple(one for one in manifest.methods if one.name != method),
            "scorers": tuple(one for one in manifest.scorers if one.kind != "imported" or one.name in used),
        }
    )
    Experiment.objects.filter(pk=locked.pk).update(manifest=smaller.model_dump(mode="json"))
    return count


def _matched(log: LogReader, items: Sequence[ProblemSetItem], repeats: int, report: Report) -> list[_Taken]:
    """The samples that fit a cell. The id names the problem if it has its statement; else an equal statement, else the id."""
    by_name = {item.name: item for item in items}
    stated = {item.pk: normalise_statement(item.problem.statement) for item in items}
    by_text = {stated[item.pk]: item for item in reversed(items)}
    found: dict[tuple[int, int], _Taken] = {}
    without, beyond, other, twice = set(), 0, set(), 0
    for summary in sorted(log.summaries, key=lambda one: one.epoch):
        if summary.epoch > repeats:
            beyond += 1
            continue
        asked, answer = log.texts(summary)
        text, named = normalise_statement(asked), by_name.get(str(summary.id))
        item = named if named is not None and stated[named.pk] in text else by_text.get(text, named)
        if item is None:
            without.add(summary.id)
        elif (item.pk, summary.epoch) in found:
            twice += 1
        else:
            found[item.pk, summary.epoch] = _Taken(item, summary, "" if summary.error else _storable(answer))
            if stated[item.pk] not in text:
                other.add(summary.id)
    report.sentences += _sentences(len(without), len({pk for pk, _ in found}), len(items), beyond, repeats, len(other), twice)
    return list(found.values())


def _sentences(without: int, have: int, problems: int, beyond: int, repeats: int, other: int, twice: int) -> Iterator[str]:
    """What does not match, in sentences."""
    if without:
        yield f"{_counted(without, 'id')} of samples {_was(without)} left out, because no problem has this name or statement."
    if missing := problems - have:
        yield f"{_counted(missing, 'problem')} {'has' if missing == 1 else 'have'} no sample."
    if beyond:
        words = f"the experiment has {_counted(repeats, 'repeat')}"
        yield f"{_counted(beyond, 'sample')} of later epochs {_was(beyond)} left out, because {words}."
    if other:
        texts = "has another text than the problem" if other == 1 else "have other texts than the problems"
        yield f"{_counted(other, 'id')} {texts} of that name: check that these are the same problems."
    if twice:
        yield f"{_counted(twice, 'sample')} {_was(twice)} left out, because another one has the same problem and epoch."


def _scorer_names(manifest: Manifest, summaries: Iterable[Summary]) -> dict[str, str]:
    """By scorer of the log, its name in the experiment, which no scorer of ours has. Raises `LogWrong` for too many."""
    own = {one.name for one in manifest.scorers if one.kind != "imported"}
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for summary in summaries for name in summary.scores or {}):
        clean = re.sub(r"^[^A-Za-z0-9]+|[^\w .+×@-]", "-", name).strip("- ")[: NAME_LENGTH - 12] or "score"
        names = chain((clean, f"{clean} of the log"), (f"{clean} {number}" for number in count(2)))
        found[name] = next(one for one in names if one not in own and one not in found.values())
    if len(found) > SCORERS_AT_MOST:
        raise LogWrong(f"The log has {len(found):,} scorers; at most {SCORERS_AT_MOST} are imported. Leave some out.")
    return found


def _larger(manifest: Manifest, log: LogReader, method: str, names: dict[str, str]) -> Manifest:
    """The manifest with the method and the scorers of the log. Raises `LogWrong`."""
    spec = log.header.eval
    origin = {
        "task": spec.task,
        "model": spec.model,
        "solver": spec.solver or "",
        "eval_id": spec.eval_id,
        "created": spec.created,
    }
    origin = {key: _clean(value) for key, value in origin.items()}
    known = {one.name for one in manifest.scorers}
    scorers = [Scorer(name=name, kind="imported").model_dump() for name in names.values() if name not in known]
    values = manifest.model_dump(mode="json")
    added = Method.model_construct(name=method, scaffold=EXTERNAL, params=origin).model_dump()
    try:
        return manifest_of(values | {"methods": [*values["methods"], added], "scorers": [*values["scorers"], *scorers]})
    except ManifestWrong as error:
        raise LogWrong(f"Choose another name for the method: letters, digits and - + . @, at most 60 ({error})") from error


def _budget(manifest: Manifest, limit: int | None, report: Report) -> int:
    """The number of the budget with this limit of tokens; else the first, with a sentence."""
    tokens = [one.tokens for one in manifest.budgets]
    if limit in tokens:
        return tokens.index(limit)
    limits = "no limit of tokens" if limit is None else f"a limit of {limit:,} tokens"
    report.sentences.append(f"The log has {limits}, which is no budget of the experiment. Its cells have the first budget.")
    return 0


def _cells(experiment: Experiment, method: str, team: str, budget: int, taken: Sequence[_Taken]) -> list[SolvingCell]:
    last = experiment.solving_cells.aggregate(last=Max("position"))["last"] or 0
    cells = [
        SolvingCell(
            experiment=experiment,
            position=position,
            item=one.item,
            method=method,
            team=team,
            budget=budget,
            repeat=one.summary.epoch - 1,
            state=SolvingState.FINISHED,
            answer=SAMPLE if one.answer else "",
            text=one.answer,
            calls=one.summary.turn_count or 0,
            prompt_tokens=one.summary.prompt_tokens,
            completion_tokens=one.summary.completion_tokens,
            seconds=one.summary.seconds,
            ended_at=timezone.now(),
        )
        for position, one in enumerate(taken, last + 1)
    ]
    return SolvingCell.objects.bulk_create(cells, batch_size=_BATCH)


def _scores(cell: SolvingCell, one: _Taken, manifest: Manifest, names: dict[str, str], full: float) -> Iterator[CellScore]:
    """The scores of the log, and those of our scorers by final answer, which read the text of the sample."""
    for name, score in (one.summary.scores or {}).items():
        share, reason = (None, FAILED) if one.summary.error else share_read(score, full)
        yield _score(cell, names[name], share, reason)
    for scorer in manifest.scorers:
        if scorer.kind == "answer" and not one.summary.error:
            found = answer_points(one.answer, one.item.problem.answer)
            ours = _score(cell, scorer.name, None if found.points is None else float(found.points), found.unscored)
            ours.comment = found.comment
            yield ours


def share_read(score: Score, full: float) -> tuple[float | None, str]:
    """The share of a full score, or why there is none. Inspect counts N, no answer, as 0; here it is unscored."""
    value = score.value
    if value == "N":
        return None, NOTHING
    if isinstance(value, str):
        known = _WORDS.get(value, _WORDS.get(value.lower()))
        if known is not None:
            return known, ""
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        said = score.explanation if isinstance(value, float) and score.explanation else "the value of its score is no number"
        return None, _clean(said)
    share = float(number) if isinstance(value, bool) else number / full
    return (share, "") if 0 <= share <= 1 else (None, f"its score is not between 0 and {full:g}")


def _score(cell: SolvingCell, scorer: str, share: float | None, reason: str) -> CellScore:
    if share is None:
        given: dict[str, object] = {"state": CellScore.State.UNSCORED, "unscored": reason}
    else:
        scale = 1 if round(share, 2) == share else _FINE
        given = {"state": CellScore.State.SCORED, "points": Decimal(str(round(share * scale, 2))), "scale": Decimal(scale)}
    return CellScore(cell=cell, scorer=scorer, answer=cell.answer, ended_at=timezone.now(), **given)


def _add_unscored(report: Report, scores: Iterable[CellScore]) -> None:
    counts = Counter(score.scorer for score in scores if score.points is None)
    report.sentences += [f"{_counted(count, 'cell')} {_was(count)} not scored by {name}." for name, count in counts.items()]


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _clean(text: str) -> str:
    """At most 500 characters."""
    return _storable(text[:500])


def _storable(text: str) -> str:
    """The text without what a database cannot hold."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode()
