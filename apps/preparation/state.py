"""Current state of a problem's prepared pieces: groups with their analyses and rubrics, and stale versions.

The state is computed from the texts. A version is current while the digest of its input equals that of the present texts.
"""

from dataclasses import dataclass, field

from apps.graders.models import PieceVersion
from apps.graders.references import Reference, references_of
from apps.problems.models import Problem
from apps.reasoning.domain.grading_events import GradingUnprepared
from apps.reasoning.graders.pieces.pieces import Analysis, Cluster, Clusters, Rubric
from apps.reasoning.graders.pieces.preparing import rubric_name
from apps.reasoning.graders.pieces.slots import Slot, analysis_slot, clusters_slot, rubric_slot
from apps.reasoning.graders.with_references import MANNERS
from apps.reasoning.story.vocabulary import event_from
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
    """Why a run left a place empty, and the unreadable answer."""

    run: Run
    reason: str
    raw: str


@dataclass(frozen=True)
class Origin:
    """Origin of a stale version: `title` names the kind of piece, `about` the reference and its group, `why` the change.

    `about` is empty for groups, which have no single reference.
    """

    version: PieceVersion
    title: str
    about: str
    why: str


@dataclass
class Place:
    """One piece: `current` version, `earlier` ones for the same basis, `stale` ones for another basis.

    `slot` is None while the piece cannot be made, as a rubric before its analysis. `origins` describe the stale versions, once
    filled by `preparing_origins`.
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
        """Its content if the piece is groups."""
        return Clusters.model_validate(self.current.value) if self.current and self.current.what == "clusters" else None

    @property
    def analysis(self) -> Analysis | None:
        """Its content if the piece is an analysis."""
        return Analysis.model_validate(self.current.value) if self.current and self.current.what == "analysis" else None

    @property
    def rubric(self) -> Rubric | None:
        """Its content if the piece is a rubric."""
        return Rubric.model_validate(self.current.value) if self.current and self.current.what == "rubric" else None

    @property
    def others(self) -> int:
        """Number of versions other than the current one."""
        return len(self.earlier) + len(self.stale)

    @property
    def last(self) -> PieceVersion | None:
        """The version saved last for this basis, the parent of the next one."""
        known = [*([self.current] if self.current else []), *self.earlier]
        return max(known, key=lambda one: (one.shown_at, one.pk), default=None)


@dataclass
class Group:
    """References with the same approach, and the pieces prepared from their representative."""

    name: str
    cluster: Cluster
    representative: Reference
    analyses: list[Place] = field(default_factory=list)
    rubrics: list[Place] = field(default_factory=list)


@dataclass
class State:
    """The whole state. `gone`: versions for references that are no longer representatives; `origins` as in `Place`."""

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
        """The place with this name."""
        return next((place for place in self.places if place.name == name), None)

    def group_of(self, place: Place) -> Group | None:
        """The group that a place belongs to."""
        return next((group for group in self.groups if place in (*group.analyses, *group.rubrics)), None)

    def with_inputs(self, version: PieceVersion) -> list[PieceVersion]:
        """A version after its inputs: the groups and, for a rubric, the analysis. They are approved together."""
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
    """The state of the newest version of a problem."""
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
    """The versions of a problem, and the unreadable answers of the last run by slot."""

    def __init__(self, problem: Problem) -> None:
        rows = PieceVersion.objects.filter(problem=problem).select_related("made_by", "approved_by", "run")
        self.versions = list(rows)
        self.lost = _lost(problem)

    def place(self, title: str, name: str, slot: Slot | None) -> Place:
        """A place with its versions. The current one is the approved one, else the one saved last."""
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
        """Whether a slot has a version or an unreadable answer."""
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
    """By slot: the unreadable answer of the last run that tried it."""
    rows = RunEvent.objects.filter(run__problem_version__problem=problem, run__scaffold="prepare", kind=GradingUnprepared.kind)
    found = {}
    for row in rows.select_related("run").order_by("run_id", "seq"):
        event = event_from(row.kind, row.body)
        if isinstance(event, GradingUnprepared):
            found[event.slot] = Lost(row.run, event.reason, event.raw)
    return found
