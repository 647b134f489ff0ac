"""What is prepared for a problem as it stands now: groups, and for each its analyses and rubrics, with what is stale.

Everything is computed from the texts: a version counts while the digest of what it was made from is the one of today.
"""

from dataclasses import dataclass, field

from apps.grading.preparing_models import PieceVersion
from apps.grading.references import Reference, references_of
from apps.problems.models import Problem
from apps.reasoning.domain.events import event_from
from apps.reasoning.domain.grading_events import GradingUnprepared
from apps.reasoning.graders.pieces import Analysis, Cluster, Clusters, Rubric
from apps.reasoning.graders.preparing import rubric_name
from apps.reasoning.graders.slots import Slot, analysis_slot, clusters_slot, rubric_slot
from apps.reasoning.graders.with_references import MANNERS
from apps.runs.models import Run, RunEvent

TITLES = {
    "scored": "Main steps with approachability",
    "plain": "Main steps",
    "scored/steps": "Rubric by approachability",
    "plain/steps": "Rubric over the main steps",
    "plain/milestones": "Rubric of milestones",
    "scored/milestones": "Milestones by approachability",
}


@dataclass(frozen=True)
class Lost:
    """Why a run left a place empty, and what was written instead."""

    run: Run
    reason: str
    raw: str


@dataclass(frozen=True)
class Origin:
    """Where a stale version belongs: `title` tells its manner, `about` the reference with its group, `why` what has changed.

    For the groups there is no reference, and `about` is empty.
    """

    version: PieceVersion
    title: str
    about: str
    why: str


@dataclass
class Place:
    """One piece: `current` is the version that counts, `earlier` the others for the same basis, `stale` those for another.

    `slot` is None while it cannot be made yet: a rubric before its analysis. `origins` tell of what is stale, where a page
    asked for it (`preparing_origins`).
    """

    name: str
    title: str
    slot: Slot | None
    current: PieceVersion | None = None
    earlier: list[PieceVersion] = field(default_factory=list)
    stale: list[PieceVersion] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    lost: Lost | None = None

    @property
    def clusters(self) -> Clusters | None:
        """Its content where it is groups."""
        return Clusters.model_validate(self.current.value) if self.current and self.current.what == "clusters" else None

    @property
    def analysis(self) -> Analysis | None:
        """Its content where it is an analysis."""
        return Analysis.model_validate(self.current.value) if self.current and self.current.what == "analysis" else None

    @property
    def rubric(self) -> Rubric | None:
        """Its content where it is a rubric."""
        return Rubric.model_validate(self.current.value) if self.current and self.current.what == "rubric" else None

    @property
    def others(self) -> int:
        """How many versions there are beside the one that counts."""
        return len(self.earlier) + len(self.stale)

    @property
    def last(self) -> PieceVersion | None:
        """The version saved last for this basis, on which the next one is based."""
        known = [*([self.current] if self.current else []), *self.earlier]
        return max(known, key=lambda one: (one.shown_at, one.pk), default=None)


@dataclass
class Group:
    """References that go the same way, with what is prepared from their representative."""

    name: str
    cluster: Cluster
    representative: Reference
    analyses: list[Place] = field(default_factory=list)
    rubrics: list[Place] = field(default_factory=list)


@dataclass
class State:
    """All of it. `gone` are versions about references that are no representative any more, `origins` as of a place."""

    statement: str
    references: list[Reference]
    clusters: Place | None
    groups: list[Group]
    gone: list[PieceVersion]
    origins: list[Origin] = field(default_factory=list)

    @property
    def places(self) -> list[Place]:
        """Every place of the page."""
        own = [self.clusters] if self.clusters else []
        return own + [place for group in self.groups for place in (*group.analyses, *group.rubrics)]

    def place(self, name: str) -> Place | None:
        """The place of this name."""
        return next((place for place in self.places if place.name == name), None)

    def group_of(self, place: Place) -> Group | None:
        """The group that a place belongs to."""
        return next((group for group in self.groups if place in (*group.analyses, *group.rubrics)), None)

    def resting_on(self, version: PieceVersion) -> list[PieceVersion]:
        """What a version rests on, itself last: the groups, and for a rubric the analysis. Approving takes them all."""
        found = next((place for place in self.places if version in (place.current, *place.earlier)), None)
        if found is None:
            return []
        group = self.group_of(found)
        below: list[Place] = [self.clusters] if self.clusters and group else []
        if group and version.what == "rubric":
            manner = found.name.split("/")[2]
            below += [place for place in group.analyses if place.name.split("/")[2] == manner]
        return [place.current for place in below if place.current] + [version]


def state_of(problem: Problem) -> State:
    """What is prepared for the newest version of a problem."""
    statement = problem.current.statement
    references = references_of(problem)
    texts = [one.text for one in references]
    kept = _Kept(problem)
    place = kept.place("Groups", "clusters", clusters_slot(statement, texts)) if len(texts) > 1 else None
    clusters = place.clusters if place else Clusters(clusters=(Cluster(members=(1,), representative=1),)) if texts else None
    groups = [
        _group(kept, statement, name, cluster, references[cluster.representative - 1])
        for name, cluster in (clusters.named.items() if clusters else ())
    ]
    state = State(statement, references, place, groups, [])
    names = {one.name for one in state.places}
    state.gone = [one for one in kept.versions if one.slot not in names]
    return state


class _Kept:
    """The versions of a problem by slot, and what the last run of each slot lost."""

    def __init__(self, problem: Problem) -> None:
        rows = PieceVersion.objects.filter(problem=problem).select_related("made_by", "approved_by", "run")
        self.versions = list(rows)
        self.lost = _lost(problem)

    def place(self, title: str, name: str, slot: Slot | None) -> Place:
        """A place with its versions. What is approved counts first, then what was saved last."""
        mine = [one for one in self.versions if one.slot == name]
        fresh = [one for one in mine if slot and one.basis == slot.basis]
        current = next((one for one in fresh if one.is_approved), fresh[0] if fresh else None)
        return Place(
            name=name,
            title=title,
            slot=slot,
            current=current,
            earlier=[one for one in fresh if one is not current],
            stale=[one for one in mine if one not in fresh],
            lost=None if current else self.lost.get(name),
        )

    def has(self, name: str) -> bool:
        """Whether anything came, or was lost, for a slot."""
        return name in self.lost or any(one.slot == name for one in self.versions)


def _group(kept: _Kept, statement: str, name: str, cluster: Cluster, reference: Reference) -> Group:
    group = Group(name, cluster, reference)
    for is_scored, manner in ((True, "scored"), (False, "plain")):
        slot = analysis_slot(statement, reference.text, is_scored)
        place = kept.place(TITLES[manner], slot.name, slot)
        rubrics = []
        for one in (one for one in MANNERS.values() if one.is_scored is is_scored):
            own = rubric_name(reference.text, one)
            analysis = place.analysis
            of = rubric_slot(statement, reference.text, analysis, one.name) if analysis else None
            if kept.has(own) or one.name == "scored/steps":
                rubrics.append(kept.place(TITLES[one.name], own, of))
        if is_scored or kept.has(slot.name) or rubrics:
            group.analyses.append(place)
            group.rubrics += rubrics
    return group


def _lost(problem: Problem) -> dict[str, Lost]:
    """By slot what the last run that tried lost."""
    rows = RunEvent.objects.filter(run__problem_version__problem=problem, run__scaffold="prepare", kind=GradingUnprepared.kind)
    found = {}
    for row in rows.select_related("run").order_by("run_id", "seq"):
        event = event_from(row.kind, row.body)
        if isinstance(event, GradingUnprepared):
            found[event.slot] = Lost(row.run, event.reason, event.raw)
    return found
