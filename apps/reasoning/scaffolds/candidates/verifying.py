"""A verifier's decision on a candidate: requested, read and published in the same way in every scaffold."""

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.domain.verdicts import Streaks
from apps.reasoning.reading.choices import Decision, DecisionJson, read_decision, read_decision_again
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.running.hearing import choosing

# Made once: pydantic needs longer for a schema than all other work of a check.
_SCHEMA = DecisionJson.model_json_schema()
READING = choosing("decision", "decision", ("pass", "fail"), read_decision, read_decision_again)


async def verified(
    desk: Desk, role: str, candidate: Candidate, call: str, place: Place, before: Streaks | None = None
) -> tuple[Decision | None, Streaks]:
    """Return the decision, None if unreadable, and the streaks after it.

    `before`: the streaks up to this check; None for unordered checks, which have no streaks.
    """
    values = {"answer_form": desk.form("decision"), "solution": desk.content(candidate.text)}
    prompt = desk.filled(role, "shared/verifier", values, ending=await desk.formulas.marks(desk, candidate))
    found, said_in, _ = await desk.hear(call, role=role, prompt=prompt, place=place, schema=_SCHEMA, reading=READING)
    decision = found if isinstance(found, Decision) else None
    passed = decision.passed if decision else None
    streaks = before.after(passed) if before is not None else Streaks()
    event = CandidateJudged(
        candidate=candidate.id,
        index=place.index,
        call=said_in,
        passed=passed,
        unscored=found.reason if isinstance(found, Unscored) else "",
        issues=decision.issues if decision else (),
        summary=decision.summary if decision else "",
        passes=streaks.passes,
        failures=streaks.failures,
        overruled=decision is not None and decision.overruled,
    )
    desk.ctx.emit(f"{call}/judged", event)
    return decision, streaks
