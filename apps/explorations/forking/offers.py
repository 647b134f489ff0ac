"""What a fork from a place can change, where it begins, and which calls it takes over; or why it cannot."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from apps.accounts.models import User
from apps.explorations.forking.places import Place, missing, phase_of
from apps.explorations.forking.walk import Walk, walk
from apps.explorations.forking.words import point_words
from apps.explorations.starting.given import given_of
from apps.explorations.starting.plans import usable_aliases
from apps.explorations.words import role_word
from apps.lemmas.models import Lemma
from apps.reasoning.domain.control import Change
from apps.reasoning.domain.errors import AliasError, ParamsError
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.scaffold import prompts_have_changed
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.models import Run, Step

TITLES: dict[Change, str] = {
    "without": "Without this lemma",
    "corrected": "With a corrected statement",
    "hint": "With a hint",
    "unchanged": "Unchanged, with new draws",
}
_WHOLE = "Use Fork on the page of the run: it takes over every call whose request is still the same."


class _Step(NamedTuple):
    """A recorded call: its place, role and tokens."""

    key: str
    round: int
    role: str
    prompt: int
    completion: int


@dataclass(frozen=True)
class CallSum:
    """Calls of one role in one round; round 0 is the proof. `tokens` are those of prompts and answers."""

    round: int
    word: str
    calls: int
    tokens: int


@dataclass(frozen=True)
class Offer:
    """One change. `refusal`: why it is impossible and what to do, or "". `taken` and `again`: calls by round and role."""

    change: Change
    refusal: str = ""
    point: str = ""
    taken: tuple[CallSum, ...] = ()
    again: tuple[CallSum, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.change]

    @property
    def begins(self) -> str:
        return point_words(self.point)

    @property
    def rows(self) -> list[tuple[int, str, CallSum | None, CallSum | None]]:
        """By round and role: what is taken over, and what follows in the parent."""
        sums: dict[tuple[int, str], list[CallSum | None]] = {
            (one.round, one.word): [None, None] for one in (*self.taken, *self.again)
        }
        for at, part in enumerate((self.taken, self.again)):
            for one in part:
                sums[one.round, one.word][at] = one
        return [(round_, word, taken, again) for (round_, word), (taken, again) in sums.items()]

    @property
    def totals(self) -> dict[str, int]:
        """Calls and tokens that are taken over, and those of the parent that follow."""
        return {
            f"{name}_{what}": sum(getattr(one, what) for one in sums)
            for name, sums in (("taken", self.taken), ("again", self.again))
            for what in ("calls", "tokens")
        }


@dataclass(frozen=True)
class Offers:
    """All changes that a person may choose at a place; with `trouble`, none is possible."""

    trouble: str = ""
    offers: tuple[Offer, ...] = ()
    lemma: Lemma | None = None
    points: tuple[str, ...] = ()

    def of(self, change: str) -> Offer | None:
        return next((one for one in self.offers if one.change == change and not one.refusal), None)

    @property
    def possible(self) -> tuple[Offer, ...]:
        return tuple(one for one in self.offers if not one.refusal)


def offers_of(run: Run, place: Place, user: User) -> Offers:
    """What a fork of `run` from `place` can change. Replays the recorded run."""
    if trouble := _trouble(run, user):
        return Offers(trouble)
    if not place.is_given:
        return Offers("Choose an event, a call or a lemma of the run, then press “Fork from here” there.")
    lemma = Lemma.objects.filter(run=run, lemma=place.lemma).first() if place.lemma else None
    if place.lemma and lemma is None:
        return Offers(f"This run has no lemma {place.lemma}.")
    if trouble := missing(run, place):
        return Offers(trouble)
    found = walk(run)
    if found.trouble:
        return Offers(f"{found.trouble} {_WHOLE}")
    if not any(phase.calls for phase in found.phases):
        return Offers("This run has no recorded call to take over. Wait for its first call, or start a new run of the problem.")
    at, refusal = phase_of(run, place, found)
    if refusal:
        return Offers(refusal)
    steps, changed = _steps(run), _lemma_refusal(run, lemma)
    offers = (
        _offer(steps, found, "without", at, changed),
        _offer(steps, found, "corrected", at, changed),
        _hint(steps, found, at),
        _offer(steps, found, "unchanged", at, _nothing_new(found, at)),
    )
    return Offers("", offers, lemma, tuple(phase.point for phase in found.phases))


def _trouble(run: Run, user: User) -> str:
    """Why no part of the run can be forked, and what to do."""
    if run.is_authored:
        return "The worked example cannot be forked: people wrote its texts, not a model. Explore its problem instead."
    if run.is_imported:
        return "An imported run cannot be forked: its calls were not made here. Explore its problem instead."
    if run.scaffold not in SCAFFOLDS:
        return "The method of this run no longer exists here. Explore its problem with another one."
    try:
        spec, aliases = RunSpec.model_validate(run.spec), usable_aliases()
    except AliasError as error:
        return str(error)
    except ValueError:
        return f"An older version of this program made the run. {_WHOLE}"
    if not spec.prompt_hashes or prompts_have_changed(spec.prompt_hashes, SCAFFOLDS[run.scaffold].prompts):
        return f"The prompts of this method have changed since the run. {_WHOLE}"
    for chosen in spec.roles.values():
        alias = aliases.get(chosen.alias)
        if alias is None or (alias.revision or alias.model) != chosen.revision:
            state = "is no longer enabled" if alias is None else "has another version now"
            return f"The model {chosen.alias} {state}. Use Fork on the page of the run, and choose a model there."
    return _data_trouble(run, spec, user)


def _data_trouble(run: Run, spec: RunSpec, user: User) -> str:
    """A scaffold that uses more of the problem than its statement must still get the same data, and from this person."""
    scaffold, given = SCAFFOLDS[run.scaffold], given_of(run.problem_version.problem, user)
    try:
        now = scaffold.read_params({**spec.params, **{name: getattr(given, name) for name in scaffold.takes}})
    except ParamsError:
        return f"The parameters of this method have changed since the run. {_WHOLE}"
    if now.model_dump(mode="json") != spec.params and scaffold.takes:
        return f"The solutions or the scheme that this run was given have changed. {_WHOLE}"
    return ""


def _lemma_refusal(run: Run, lemma: Lemma | None) -> str:
    if not SCAFFOLDS[run.scaffold].takes_lemmas:
        return "This method keeps no lemmas."
    if lemma is None:
        return "Open the lemma, and fork from its panel."
    if lemma.origin == "human":
        return "A person added this lemma. Fork unchanged from an event before it: later commands are not taken over."
    if lemma.merged_into:
        return f"It is merged into lemma {lemma.merged_into}. Fork from that lemma."
    if lemma.is_retired:
        return f"It was retired ({lemma.retired_reason}). Fork from the lemma that replaced it, or with a hint."
    return ""


def _nothing_new(found: Walk, at: int) -> str:
    if not any(phase.calls for phase in found.phases[:at]):
        return "No call was made before this point, so nothing can be taken over. Start a new run of the problem."
    if not any(phase.calls for phase in found.phases[at:]):
        return "No call follows this point. Choose an earlier event."
    return ""


def _hint(steps: list[_Step], found: Walk, at: int) -> Offer:
    """A hint begins at the next point that is followed by a prompt with hints."""
    reading = [number for number, phase in enumerate(found.phases) if phase.reads_hints and phase.calls]
    if not reading:
        return Offer("hint", "No prompt of this run reads hints.")
    later = next((number for number in reading if number >= at), None)
    if later is None:
        last = point_words(found.phases[reading[-1]].point)
        return Offer("hint", f"No later prompt reads hints. The last that does: {last}. Choose an event before it.")
    return _offer(steps, found, "hint", later, "")


def _offer(steps: list[_Step], found: Walk, change: Change, at: int, refusal: str) -> Offer:
    if refusal:
        return Offer(change, refusal)
    before = {key for phase in found.phases[:at] for key in phase.calls}
    taken, again = (step for step in steps if step.key in before), (step for step in steps if step.key not in before)
    return Offer(change, "", found.phases[at].point, _sums(taken), _sums(again))


def _steps(run: Run) -> list[_Step]:
    """The recorded calls, in order."""
    rows = Step.objects.filter(run=run, kind="call").order_by("pk")
    return [_Step(*row) for row in rows.values_list("key", "round", "role", "prompt_tokens", "completion_tokens")]


def _sums(steps: Iterable[_Step]) -> tuple[CallSum, ...]:
    sums: dict[tuple[int, str], tuple[int, int]] = {}
    for step in steps:
        calls, tokens = sums.get((step.round, step.role), (0, 0))
        sums[step.round, step.role] = (calls + 1, tokens + step.prompt + step.completion)
    return tuple(CallSum(round_, role_word(role), *counts) for (round_, role), counts in sums.items())
