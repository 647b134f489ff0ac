"""The events of one small plausible run: 240 divides p⁴ − 1 for every prime p > 5, in three rounds by two rollouts.

One lemma is rejected, one corrected, one merges, some votes cannot be read, a person rejects a lemma, and the proof is
revised once.
"""

from collections.abc import Iterator

from apps.reasoning.domain import control as cv
from apps.reasoning.domain import events as ev
from apps.reasoning.domain.generation import Usage
from apps.reasoning.domain.verdicts import NO_FAULT, StepCheck, wilson_interval

KeyedEvent = tuple[str, ev.Event]

STATEMENT = "Let $p > 5$ be a prime. Prove that $240 \\mid p^4 - 1$."

# lemma, number, rollout, round, statement, steps, used lemmas, votes (first wrong step; None: unread)
LEMMAS: list[tuple[str, int, int, int, str, tuple[str, ...], tuple[str, ...], tuple[int | None, ...]]] = [
    ("s0.1", 1, 0, 1, "A prime $p > 5$ is odd and divisible neither by $3$ nor by $5$.",
     ("If $q \\in \\{2, 3, 5\\}$ divides the prime $p$, then $p = q$.", "This contradicts $p > 5$."), (), (-1, -1, -1, -1)),
    ("s0.2", 2, 0, 1, "For every odd integer $a$ we have $8 \\mid a^2 - 1$.",
     ("Write $a = 2k + 1$. Then $a^2 - 1 = 4k(k + 1)$.", "One of $k$, $k + 1$ is even, so $8 \\mid 4k(k+1)$."),
     (), (-1, -1, -1, -1)),
    ("s0.3", 3, 0, 1, "If $3 \\nmid a$, then $3 \\mid a^2 - 1$.",
     ("$a \\equiv \\pm 1 \\pmod 3$.", "Squaring gives $a^2 \\equiv 1 \\pmod 3$."), (), (-1, -1, -1, None)),
    ("s1.4", 4, 1, 1, "For every odd integer $n$ we have $8 \\mid n^2 - 1$.",
     ("$n^2 - 1 = (n - 1)(n + 1)$ is a product of consecutive even numbers.", "One of them is divisible by $4$."),
     (), (-1, -1, -1, -1)),
    ("s1.5", 5, 1, 1, "If $5 \\nmid a$, then $5 \\mid a^4 - 1$.",
     ("By Fermat's little theorem $a^{5-1} \\equiv 1 \\pmod 5$.",), (), (-1, -1, -1, -1)),
    ("s0.6", 6, 0, 2, "For every odd integer $a$ the number $a^2 + 1$ is even.",
     ("$a^2$ is odd, and an odd number plus one is even.",), (), (-1, -1, -1, -1)),
    ("s0.7", 7, 0, 2, "For every odd integer $a$ we have $16 \\mid a^4 - 1$.",
     ("$a^4 - 1 = (a^2 - 1)(a^2 + 1)$.", "By Lemma 2, $8 \\mid a^2 - 1$; by Lemma 6, $2 \\mid a^2 + 1$.",
      "The product is divisible by $8 \\cdot 2 = 16$."), ("s0.2", "s0.6"), (-1, -1, 3, -1)),
    ("s0.8", 8, 0, 2, "If $3 \\nmid a$, then $3 \\mid a^4 - 1$.",
     ("By Lemma 3, $3 \\mid a^2 - 1$, and $a^2 - 1$ divides $a^4 - 1$.",), ("s0.3",), (-1, -1, -1, -1)),
    ("s1.9", 9, 1, 2, "If $5 \\nmid a$, then $5 \\mid a^2 - 1$.",
     ("By Lemma 5, $5 \\mid (a^2 - 1)(a^2 + 1)$.", "As $5$ is prime, it divides the first factor $a^2 - 1$."),
     ("s1.5",), (2, 2, 2, -1)),
    ("s0.10", 10, 0, 3, "For every prime $p > 5$ we have $48 \\mid p^4 - 1$.",
     ("By Lemma 1, $p$ is odd and not divisible by $3$.", "By Lemma 7, $16 \\mid p^4 - 1$; by Lemma 8, $3 \\mid p^4 - 1$.",
      "Since $16 \\cdot 3 = 48$, the claim follows."), ("s0.1", "s0.7", "s0.8"), (3, 3, -1, 3)),
    ("s0.10-fixed", 10, 0, 3, "For every prime $p > 5$ we have $48 \\mid p^4 - 1$.",
     ("By Lemma 1, $p$ is odd and not divisible by $3$.", "By Lemma 7, $16 \\mid p^4 - 1$; by Lemma 8, $3 \\mid p^4 - 1$.",
      "Since $\\gcd(16, 3) = 1$, the product $48$ divides $p^4 - 1$."), ("s0.1", "s0.7", "s0.8"), (-1, -1, -1, -1)),
    ("s1.11", 11, 1, 3, "For every prime $p > 5$ we have $5 \\mid p^4 - 1$.",
     ("By Lemma 1, $5 \\nmid p$.", "Lemma 5 with $a = p$ gives the claim."), ("s0.1", "s1.5"), (-1, -1, None, None)),
    ("s1.12", 12, 1, 3, "For every integer $a$ coprime to $30$ we have $16 \\mid a^4 - 1$.",
     ("$a$ is odd, so Lemma 7 applies.",), ("s0.7",), (None, None, None, None)),
]  # fmt: skip

PROOFS: list[tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[int, ...]]] = [
    ("proof/1", "", (
        "Let $p > 5$ be prime. By Lemma 10, $48 \\mid p^4 - 1$.",
        "By Lemma 11, $5 \\mid p^4 - 1$.",
        "Hence $48 \\cdot 5 = 240$ divides $p^4 - 1$. $\\blacksquare$",
    ), ("s0.10-fixed", "s1.11"), (3, 3, -1, 3)),
    ("proof/2", "proof/1", (
        "Let $p > 5$ be prime. By Lemma 10, $48 \\mid p^4 - 1$.",
        "By Lemma 11, $5 \\mid p^4 - 1$.",
        "Because $\\gcd(48, 5) = 1$, the product $48 \\cdot 5 = 240$ divides $p^4 - 1$. $\\blacksquare$",
    ), ("s0.10-fixed", "s1.11"), (-1, -1, -1, -1)),
]  # fmt: skip


def story() -> list[KeyedEvent]:
    """Keys and events in the order in which the run emits them."""
    events: list[KeyedEvent] = [("run/created", ev.RunCreated(
        title="240 divides p⁴ − 1", scaffold="intern_s1_mo", preset="quick", aliases={"reasoner": "small"}, params={}, seed=7,
        code_version="test"))]  # fmt: skip
    events.append(("run/started/1", ev.RunStarted(owner="test", fence=1)))
    for round_ in (1, 2, 3):
        for rollout in (0, 1):
            events += _round(rollout, round_)
    events += _human()
    for proof in PROOFS:
        events += _proof(*proof)
    events.append(("proof/selected", ev.ProofSelected(proof="proof/2", accepted=True, reason="All 4 valid votes passed.")))
    finished = ev.RunFinished(accepted=True, proof="proof/2", reason="All 4 valid votes passed.", ended_by="accepted")
    events.append(("run/finished", finished))
    return events


def _round(rollout: int, round_: int) -> Iterator[KeyedEvent]:
    base = f"s{rollout}/r{round_}"
    mine = [row for row in LEMMAS if row[2] == rollout and row[3] == round_]
    yield f"{base}/began", ev.RoundBegan(rollout=rollout, round=round_)
    yield from _call(f"{base}/reason", "reasoner", rollout, round_)
    yield from _call(f"{base}/summarise", "summarizer", rollout, round_)
    for row in mine:
        yield from _lemma(base, row)
    for row in mine:
        yield from _votes(f"{base}/verify", row[0], row[7], rollout, round_)
    if base == "s1/r1":
        yield f"{base}/merge/s1.4", ev.LemmaMerged(lemma="s1.4", into="s0.2", reason="Normalised statements are equal.")
    if base == "s1/r3":
        yield f"{base}/alike/s1.12", ev.LemmasAlike(lemma="s1.12", other="s0.7", similarity=0.86)
    survived = sum(1 for row in mine if row[7].count(-1) >= 2)
    yield f"{base}/ended", ev.RoundEnded(rollout=rollout, round=round_, proposed=len(mine), survived=survived)


def _lemma(
    base: str, row: tuple[str, int, int, int, str, tuple[str, ...], tuple[str, ...], tuple[int | None, ...]]
) -> Iterator[KeyedEvent]:
    lemma, number, rollout, round_, statement, steps, uses, _faults = row
    supersedes = lemma.removesuffix("-fixed") if lemma.endswith("-fixed") else ""
    yield f"{base}/lemma/{lemma}", ev.LemmaProposed(
        lemma=lemma, number=number, rollout=rollout, round=round_, statement=statement, steps=steps,
        call=f"{base}/summarise", supersedes=supersedes)  # fmt: skip
    if supersedes:
        reason = f"Superseded by {lemma}."
        yield f"{base}/retire/{supersedes}", ev.LemmaRetired(lemma=supersedes, reason=reason)
    yield from _edges(base, lemma, steps, uses)


def _edges(base: str, user: str, steps: tuple[str, ...], uses: tuple[str, ...]) -> Iterator[KeyedEvent]:
    for used in uses:
        quote = f"Lemma {next(row[1] for row in LEMMAS if row[0] == used)}"
        step = next((i for i, text in enumerate(steps) if quote in text), 0)
        start = max(steps[step].find(quote), 0)
        anchor = ev.TextAnchor(where=f"step {step + 1}", start=start, end=start + len(quote), quote=quote)
        yield f"{base}/edge/{user}/{used}", ev.EdgeAdded(user=user, used=used, evidence=anchor)


def _votes(base: str, subject: str, faults: tuple[int | None, ...], rollout: int, round_: int) -> Iterator[KeyedEvent]:
    for index, fault in enumerate(faults, 1):
        call = f"{base}/{subject}/{index}"
        yield from _call(call, "theorem_verifier", rollout, round_, subject, index)
        yield f"{call}/vote", _vote(subject, index, len(faults), call, fault)
    valid = [fault for fault in faults if fault is not None]
    passes = valid.count(NO_FAULT)
    key = f"{base}/{subject}/verdict"
    if not valid:
        unread = f"none of {len(faults)} votes could be read"
        yield key, ev.VerdictReached(subject=subject, passes=0, valid=0, total=len(faults), confidence=None, unscored=unread,
                                     status="unscored" if subject.startswith("proof/") else "proposed")  # fmt: skip
        return
    share = passes / len(valid)
    low, high = wilson_interval(passes, len(valid))
    words = ("accepted", "not accepted") if subject.startswith("proof/") else ("verified", "rejected")
    yield key, ev.VerdictReached.model_validate({
        "subject": subject, "passes": passes, "valid": len(valid), "total": len(faults), "confidence": share, "low": low,
        "high": high, "status": words[0] if share > 0.5 else words[1]})  # fmt: skip


def _vote(subject: str, index: int, of: int, call: str, fault: int | None) -> ev.VoteCast:
    if fault is None:
        return ev.VoteCast(subject=subject, index=index, of=of, call=call, unscored="the verdict line is missing")
    if fault == NO_FAULT:
        checks: tuple[StepCheck, ...] = (StepCheck(step=1, sound=True, comment="Follows at once."),)
        return ev.VoteCast(
            subject=subject, index=index, of=of, call=call, first_fault=fault, checks=checks, summary="Every step is justified."
        )
    sound = tuple(StepCheck(step=step, sound=True, comment="Sound.") for step in range(1, fault))
    comment = "Divisibility by both factors does not give divisibility by their product; coprimality is not shown."
    return ev.VoteCast(
        subject=subject, index=index, of=of, call=call, first_fault=fault,
        checks=(*sound, StepCheck(step=fault, sound=False, comment=comment, severity="gap")),
        summary=f"Step {fault} has a gap.")  # fmt: skip


def _call(call: str, role: str, rollout: int, round_: int, subject: str = "", index: int = 0) -> Iterator[KeyedEvent]:
    yield (
        f"{call}/began",
        ev.CallBegan(call=call, role=role, alias="small", rollout=rollout, round=round_, subject=subject, index=index),
    )
    yield f"{call}/ended", ev.CallEnded(
        call=call, attempt=1, finish_reason="stop", usage=Usage(prompt=800, completion=400), ttft_s=0.2, duration_s=2.0,
        text_sha="")  # fmt: skip


def _human() -> Iterator[KeyedEvent]:
    args = {"lemma": "s1.9", "reason": "False for a = 2."}
    yield "control/c1", cv.ControlRequested(command="c1", name="reject_lemma", by="Ada", args=args)
    yield "control/c1/applied", cv.ControlApplied(command="c1", name="reject_lemma", point="proof")
    yield "retire/s1.9", ev.LemmaRetired(lemma="s1.9", reason="Rejected by Ada: False for a = 2.")
    args = {"lemma": "s0.7", "reason": "Checked by hand."}
    yield "control/c2", cv.ControlRequested(command="c2", name="accept_lemma", by="Ada", args=args)
    yield "control/c2/applied", cv.ControlApplied(command="c2", name="accept_lemma", point="proof")


def _proof(
    proof: str, revises: str, steps: tuple[str, ...], uses: tuple[str, ...], faults: tuple[int, ...]
) -> Iterator[KeyedEvent]:
    call = f"final/{proof}"
    yield from _call(call, "reviser" if revises else "reasoner", 0, 4, proof)
    yield (
        f"{call}/drafted",
        ev.ProofDrafted(proof=proof, text="\n\n".join(steps), steps=steps, call=call, rollout=0, revises=revises),
    )
    yield from _edges(call, proof, steps, uses)
    yield from _votes(f"{call}/verify", proof, faults, 0, 4)
