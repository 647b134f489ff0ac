"""The steps of grading with references: cluster, match, analyse, design a rubric. Each piece is made once and then reused.

Source: RefGrader §5.2. Pieces depend only on the problem and its references; their names are digests of their inputs, so that a
piece made for an earlier script is found by name without a model call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeVar

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.grading_events import GradingMatched, GradingPrepared
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.judging.asked_again import AskedAgain
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.pieces.matching import Match, MatchingSaid, best_match, matching_read
from apps.reasoning.graders.pieces.pieces import (
    Analysis,
    Cluster,
    Clusters,
    Rubric,
    analysis_reader,
    apportioned,
    clusters_read,
    own,
    rubric_reader,
)
from apps.reasoning.graders.pieces.short_pieces import analysis_again, clusters_again, match_again, rubric_again
from apps.reasoning.graders.pieces.slots import Slot, analysis_slot, clusters_slot, rubric_slot
from apps.reasoning.prompts.loader import load

V = TypeVar("V", bound=Value)
CHOSEN_BY_DESIGNER = "Yours to choose."


@dataclass(frozen=True)
class Manner:
    """How a reference is analysed and points are distributed: with approachability or not, by main steps or by milestones."""

    is_scored: bool
    by_milestones: bool

    @property
    def name(self) -> str:
        """A name for keys of calls."""
        return f"{'scored' if self.is_scored else 'plain'}/{'milestones' if self.by_milestones else 'steps'}"


@dataclass(frozen=True)
class Matched:
    """The reference that a script is compared with."""

    cluster: str
    text: str


async def clusters_of(desk: GraderDesk) -> Clusters | Unread:
    """The clusters of the references. A single reference is a cluster without a model call."""
    references = references_given(desk)
    if len(references) == 1:
        return Clusters(clusters=(Cluster(members=(1,), representative=1),))
    return await _piece(
        desk,
        clusters_slot(desk.desk.problem.statement, references),
        role="clusterer",
        key="cluster",
        prompt="grading/clusterer",
        made_from=references,
        values={"references": desk.foreign_listed((f"Text {number}", text) for number, text in enumerate(references, 1))},
        form="clusters",
        shape=Clusters,
        read=lambda final: clusters_read(final, len(references)),
        again=clusters_again(len(references)),
    )


async def matched(desk: GraderDesk) -> Matched | Unread:
    """The representative of the cluster most similar to the script."""
    clusters = await clusters_of(desk)
    if isinstance(clusters, Unread):
        return Unread(reason=f"the references could not be sorted: {clusters.reason}", raw=clusters.raw)
    found = await _match(desk, clusters)
    if isinstance(found, Unread):
        return Unread(reason=f"the script could not be compared with the references: {found.reason}", raw=found.raw)
    chosen = clusters.named[found.cluster]
    return Matched(found.cluster, references_given(desk)[chosen.representative - 1])


async def _match(desk: GraderDesk, clusters: Clusters) -> Match | Unread:
    named = clusters.named
    if len(named) == 1:
        only = Match(cluster="C1", prefix={}, common={})
        _emit_match(desk, only, "", "There is no other cluster.")
        return only
    counts = {name: len(cluster.steps) for name, cluster in named.items()}
    listed = [(_heading(name, cluster), references_given(desk)[cluster.representative - 1]) for name, cluster in named.items()]

    def read(final: Final) -> Match | Unscored:
        said = matching_read(final, counts)
        return said if isinstance(said, Unscored) else best_match(said, counts)

    match = await desk.ask(
        "match",
        role="matcher",
        prompt="grading/matcher",
        values={"clusters": desk.foreign_listed(listed), "script": desk.script},
        form="matching",
        shape=MatchingSaid,
        read=read,
        again=match_again(counts, read),
    )
    if isinstance(match, Match):
        _emit_match(desk, match, "match", "Most main steps in common from the start, then in order.")
    return match


def _heading(name: str, cluster: Cluster) -> str:
    return "\n".join([f"Solution {name}, main steps:", *(f"{number}. {one}" for number, one in enumerate(cluster.steps, 1))])


def _emit_match(desk: GraderDesk, match: Match, call: str, reason: str) -> None:
    event = GradingMatched(cluster=match.cluster, call=call, prefix=match.prefix, common=match.common, reason=reason)
    desk.desk.ctx.emit("grading/matched", event)


async def analysis_of(desk: GraderDesk, reference: Matched, manner: Manner) -> Analysis | Unread:
    """The main steps of the reference."""
    form = load("grading/forms/approachability") if manner.is_scored else load("grading/forms/no_scoring")
    found = await _piece(
        desk,
        analysis_slot(desk.desk.problem.statement, reference.text, manner.is_scored),
        role="analyst",
        key=f"analyse/{reference.cluster}/{'scored' if manner.is_scored else 'plain'}",
        prompt="grading/analyst",
        made_from=(reference.text, form.system),
        values={"reference": desk.foreign(reference.text), "scoring": form.system},
        form="analysis",
        shape=Analysis,
        read=analysis_reader(manner.is_scored),
        again=analysis_again(manner.is_scored),
    )
    return (
        Unread(reason=f"the reference could not be analysed: {found.reason}", raw=found.raw)
        if isinstance(found, Unread)
        else found
    )


async def rubric_of(desk: GraderDesk, reference: Matched, manner: Manner) -> Rubric | Unread:
    """Seven points over the reference; with approachability they are proportional to it and computed here."""
    analysis = await analysis_of(desk, reference, manner)
    if isinstance(analysis, Unread):
        return analysis
    wanted = apportioned([step.approachability or 1 for step in analysis.main_steps]) if manner.is_scored else ()
    form = load("grading/forms/by_milestones") if manner.by_milestones else load("grading/forms/by_steps")
    points = ", ".join(map(str, wanted)) or CHOSEN_BY_DESIGNER
    found = await _piece(
        desk,
        rubric_slot(desk.desk.problem.statement, reference.text, analysis, manner.name),
        role="designer",
        key=f"rubric/{reference.cluster}/{manner.name}",
        prompt="grading/designer",
        made_from=(reference.text, analysis.text, form.system, points),
        values={
            "reference": desk.foreign(reference.text),
            "analysis": desk.foreign(analysis.text),
            "manner": form.system,
            "points": points,
        },
        form="rubric",
        shape=Rubric,
        read=rubric_reader(wanted),
        again=rubric_again(wanted),
    )
    return Unread(reason=f"no rubric could be made: {found.reason}", raw=found.raw) if isinstance(found, Unread) else found


async def _piece(
    desk: GraderDesk,
    slot: Slot,
    *,
    role: str,
    key: str,
    prompt: str,
    made_from: Sequence[str],
    values: Mapping[str, str],
    form: str,
    shape: type[V],
    read: Callable[[Final], V | Unscored],
    again: AskedAgain[V],
) -> V | Unread:
    """The piece approved by a person for this basis, else one made before under this name, else a new one."""
    stems = (load(prompt).sha, desk.form(form), desk.desk.problem.statement)
    name = f"{slot.what}/{sha256(chr(0).join((*stems, *made_from)).encode()).hexdigest()}"
    if name in desk.made:
        return shape.model_validate(desk.made[name])
    known = next((one for one in (slot.approved, name) if one in desk.material.prepared), "")
    if known:
        found: V | Unread = shape.model_validate(desk.material.prepared[known])
    else:
        found = await desk.ask(
            key,
            role=role,
            prompt=prompt,
            values=values,
            form=form,
            shape=shape,
            read=lambda final: own(read(final), desk.form(form)),
            again=replace(again, read=lambda second, first: own(again.read(second, first), desk.form(form))),
        )
    if isinstance(found, Unread):
        return found
    desk.made[name] = found.model_dump(mode="json")
    _emit_piece(desk, slot, name, known=known, role=role, key=key)
    return found


def _emit_piece(desk: GraderDesk, slot: Slot, name: str, *, known: str, role: str, key: str) -> None:
    event = GradingPrepared(
        piece=known or name,
        what=slot.what,
        role=role,
        call="" if known else key,
        is_cached=bool(known),
        value=desk.made[name],
        slot=slot.name,
        basis=slot.basis,
    )
    desk.desk.ctx.emit(f"grading/piece/{name}", event)


def references_given(desk: GraderDesk) -> tuple[str, ...]:
    """The references that hold anything, in the order in which they are numbered."""
    return tuple(text for text in desk.material.references if text.strip())
