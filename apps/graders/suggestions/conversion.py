"""Convert a grading to a suggestion: findings at steps, chains, points by item, distribution, cost, reason if unscored."""

from apps.graders.batches.running import Done
from apps.graders.planning.settings import digest_of, settings_words
from apps.graders.planning.shown import shown_of
from apps.reasoning.graders.grading import Grading, Located
from apps.reasoning.marking.propagation import Propagation
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, WORDS_LENGTH
from apps.reasoning.marking.suggestion import RAW_LENGTH, Cost, Finding, PointsShare, SuggestedItem, SuggestionBody, Unplaced
from apps.reasoning.scaffolds.spec import RunSpec


def suggestion_body(done: Done, spec: RunSpec) -> SuggestionBody:
    """The suggestion for markers; `spec`: the run spec. The feedback to the author is omitted."""
    grading = done.grading
    placed = [one for one in grading.findings if one.step]
    roles = {name: role.model_dump(mode="json") for name, role in spec.roles.items()}
    return SuggestionBody(
        findings=tuple(
            Finding(id=one.id, step=one.step, anchor=one.anchor, fallacy=one.fallacy, severity=one.severity, words=_words(one))
            for one in placed
        ),
        unplaced=tuple(
            Unplaced(id=one.id, fallacy=one.fallacy, severity=one.severity, words=_words(one))
            for one in grading.findings if not one.step
        ),
        chains=tuple(_at_steps(chain, {one.id: one.step for one in placed}) for chain in grading.chains),
        items=_ticked(grading),
        given=grading.items,
        distribution=tuple(PointsShare(points=points, share=share) for points, share in grading.shares.items()),
        proposed=grading.points,
        scale=grading.scale,
        passes=grading.passes,
        unscored=grading.unscored,
        raw=grading.raw[:RAW_LENGTH],
        remarks=grading.remarks[:WORDS_LENGTH],
        suspicious=tuple(words[:REASON_LENGTH] for words in grading.suspicious),
        rewriting=grading.rewriting,
        cost=Cost(
            calls=done.spent.total.calls,
            prompt_tokens=done.spent.total.prompt_tokens,
            completion_tokens=done.spent.total.completion_tokens,
            prepared=done.spent.prepared,
            seconds=round(done.seconds, 3),
            reused=done.reused,
        ),
        grading=done.run,
        prompts=digest_of(spec.prompt_hashes),
        settings=settings_words(spec.scaffold, spec.params, roles),
        view=shown_of(spec.scaffold, spec.params).view.parts,
    )  # fmt: skip


def _words(found: Located) -> str:
    """The claim of a finding, with notes on its place."""
    words = [found.words]
    if found.contradicts:
        words.append("It contradicts the reference solution.")
    if found.quote and found.lost:
        words.append(f"Quoted as “{found.quote[:400]}”; {found.lost}.")
    return " ".join(words)[:WORDS_LENGTH]


def _at_steps(chain: Propagation, steps: dict[str, int]) -> Propagation:
    """The chain; a first link without a step gets that of its finding."""
    first, *rest = chain.links
    root = first.model_copy(update={"step": first.step or steps.get(first.name, 0)})
    return chain.model_copy(update={"links": (root, *rest)})


def _ticked(grading: Grading) -> tuple[SuggestedItem, ...]:
    reasons = {one.code: one.reason for one in grading.items}
    return tuple(SuggestedItem(code=code, reason=reasons.get(code, "")) for code in grading.ticks)
