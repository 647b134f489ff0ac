"""One round of all rollouts: reason, summarise, verify, and update the library."""

from collections.abc import Coroutine, Iterable
from typing import Any

from apps.reasoning.domain.errors import BudgetKeptBack
from apps.reasoning.domain.events import LemmaMerged, LemmaProposed, LemmasAlike, RoundBegan, RoundEnded
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.summaries import ReadLemma, Summary, read_results, read_summary
from apps.reasoning.scaffolds.intern_s1_mo.asking import SUMMARY_SCHEMA, summary_prompt
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Lemma, Rollout
from apps.reasoning.scaffolds.intern_s1_mo.reasoning import reason
from apps.reasoning.scaffolds.intern_s1_mo.steering import steer
from apps.reasoning.scaffolds.intern_s1_mo.verification import verify_lemma
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import Reading


async def explore(x: Exploration) -> None:
    """Play rounds until every rollout has stopped, a person asks for the write-up, the rounds are used up, or only the budget
    reserved for the write-up is left."""
    for round_ in range(1, x.params.max_rounds + 1):
        running = [rollout for rollout in x.lemmas.rollouts if not rollout.stop]
        if not running or x.write_up or x.cut_short:
            return
        await play_round(x, running, round_)


async def play_round(x: Exploration, running: list[Rollout], round_: int) -> None:
    """Play a round: 1. reason  2. summarise  3. vote on new lemmas  4. update the library and decide which rollouts continue.
    A control point precedes each part."""
    await steer(x, f"r{round_}/reason")
    if x.write_up:
        return
    for rollout in running:
        x.emit(f"s{rollout.index}/r{round_}/began", RoundBegan(rollout=rollout.index, round=round_))
        rollout.work, rollout.thinking, rollout.fresh = "", "", []
        rollout.claims_complete, rollout.summary_read = False, False
    try:
        await _work(x, running, round_)
    except BudgetKeptBack as reached:
        x.cut_short = await x.ctx.go_over(reached)
    await steer(x, f"r{round_}/votes")
    for rollout in running:
        _drop_unsupported(x, rollout)
        _supersede(x, rollout)
    for rollout in running:
        _merge(x, rollout)
    for rollout in running:
        _count_survivors(rollout)
    for rollout in running:
        _end_round(x, rollout, round_, running)
    await steer(x, f"r{round_}/end")


async def _work(x: Exploration, running: list[Rollout], round_: int) -> None:
    """Make the calls of a round. Raises `BudgetKeptBack` if no further call may begin; finished calls count."""
    await _exploring(x, (reason(x, rollout, round_) for rollout in running))
    await steer(x, f"r{round_}/summarise")
    await _exploring(x, (_summarise(x, rollout, round_) for rollout in running if _has_text(x, rollout)))
    await steer(x, f"r{round_}/verify")
    votes = (
        verify_lemma(x, lemma, rollout, f"s{rollout.index}/r{round_}/verify")
        for rollout in running
        for lemma in _fresh(rollout)
        if lemma.status == "proposed"
    )
    await _exploring(x, votes)


async def _exploring(x: Exploration, work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Make calls that do not use the write-up's reserve. Commands at control points may use it."""
    x.ctx.keep_back(x.kept_back)
    try:
        await concurrently(work)
    finally:
        x.ctx.keep_back(None)


def _has_text(x: Exploration, rollout: Rollout) -> bool:
    return bool(rollout.work or (x.params.thinking and rollout.thinking))


async def _summarise(x: Exploration, rollout: Rollout, round_: int) -> None:
    place, results = Place(rollout=rollout.index, round=round_), read_results(rollout.work)
    prompt = summary_prompt(x, rollout)

    def read(final: Final) -> Summary | Unscored:
        found = read_summary(final, prompt.text)
        if isinstance(found, Summary) and not found.lemmas and (rollout.claims_complete or results):
            claimed = "claims a complete solution" if rollout.claims_complete else "lists results with their proofs"
            return Unscored(reason=f"it finds no lemma in a text that {claimed}")
        return found

    def read_again(second: Final, _: str) -> Summary | Unscored:
        return read_summary(second, prompt.text)

    reading = Reading[Summary](read, "lemmas", read_again, SUMMARY_SCHEMA, asks_json="lemmas_json")
    call = f"s{rollout.index}/r{round_}/summarise"
    summary, call, _ = await x.hear(call, "summarizer", prompt, place, reading, SUMMARY_SCHEMA)
    if results and (isinstance(summary, Unscored) or not summary.lemmas):
        # Use the results that the reasoner lists as proved if the summary is lost; they are voted on like all lemmas.
        summary, call = results, rollout.reasoned_in
    if isinstance(summary, Unscored):
        return
    rollout.summary_read = rollout.summary_read_once = True
    notes = [*summary.unread, *_propose(x, rollout, round_, call, summary)]
    for number, note in enumerate(notes, 1):
        x.unread(call, "summarizer", note, number)


def _propose(x: Exploration, rollout: Rollout, round_: int, call: str, summary: Summary) -> list[str]:
    """Enter the lemmas of a summary, then add their edges. Returns in words what was not taken over."""
    notes: list[str] = []
    if (extra := len(summary.lemmas) - x.params.lemmas_per_round) > 0:
        notes.append(f"{extra} lemmas were left out: at most {x.params.lemmas_per_round} are taken from one round")
    taken = summary.lemmas[: x.params.lemmas_per_round]
    known = {lemma.number for lemma in rollout.lemmas.values()}
    ambiguous = frozenset(str(read.number) for read in taken if not read.fixes and read.number in known)
    fresh = [_enter(x, rollout, round_, call, read) for read in taken]
    rollout.fresh = [lemma.id for lemma in fresh if lemma.status != "retired"]
    if ambiguous:
        notes.append(f"numbers in use already were given again ({', '.join(sorted(ambiguous))}); the lemmas were renumbered")
    for lemma in fresh:
        texts = [("statement", lemma.statement), *((f"step {n}", step) for n, step in enumerate(lemma.steps, 1))]
        lemma.uses, refused = x.connect_all(lemma.id, texts, rollout, ambiguous)
        notes += refused
    return notes


def _enter(x: Exploration, rollout: Rollout, round_: int, call: str, read: ReadLemma) -> Lemma:
    """Enter a new lemma version. One with the statement of a library lemma is merged into it and not checked again."""
    old = rollout.newest(read.number) if read.fixes else None
    number = read.number
    if old is None and read.number < rollout.next_number:
        number = rollout.next_number
    versions = sum(lemma.number == number for lemma in rollout.lemmas.values())
    suffix = "" if old is None else "-fixed" if versions == 1 else f"-fixed{versions}"
    lemma = Lemma(
        id=f"s{rollout.index}.{number}{suffix}",
        number=number,
        label=f"{number}{suffix}",
        rollout=rollout.index,
        round=round_,
        statement=read.statement,
        steps=read.steps,
        call=call,
        supersedes=old.id if old else "",
        title=read.title,
    )
    same = next(
        (
            other
            for other in rollout.lemmas.values()
            if other.number != number
            and (other.in_library or (other.round == round_ and other.status == "proposed"))
            and other.normal == lemma.normal
        ),
        None,
    )
    rollout.lemmas[lemma.id] = lemma
    x.emit(f"lemma/{lemma.id}", proposed_event(lemma))
    if lemma.normal in x.left_out:
        x.retire(lemma, "this fork leaves its statement out")
    elif same is not None:
        _merge_into(x, lemma, same)
    return lemma


def proposed_event(lemma: Lemma) -> LemmaProposed:
    return LemmaProposed(
        lemma=lemma.id,
        number=lemma.number,
        rollout=max(0, lemma.rollout),
        round=lemma.round,
        statement=lemma.statement,
        steps=lemma.steps,
        call=lemma.call,
        supersedes=lemma.supersedes,
        title=lemma.title,
    )


def _fresh(rollout: Rollout) -> list[Lemma]:
    return [rollout.lemmas[name] for name in rollout.fresh]


def _drop_unsupported(x: Exploration, rollout: Rollout) -> None:
    """Retire new lemmas whose proofs cite a lemma outside the library, whatever their votes."""
    dropped = True
    while dropped:
        dropped = False
        for lemma in _fresh(rollout):
            used = [x.lemmas.standing(other) for name in lemma.uses if (other := x.lemmas.get(name))]
            missing = next((other for other in used if not other.in_library), None)
            if lemma.in_library and not lemma.accepted_by_person and missing is not None:
                x.retire(lemma, f"its proof uses {missing.id}, which is not in the library")
                dropped = True


def _supersede(x: Exploration, rollout: Rollout) -> None:
    """Retire versions that a corrected version replaces."""
    for lemma in _fresh(rollout):
        old = rollout.lemmas.get(lemma.supersedes)
        if lemma.in_library and old is not None and old.status not in ("retired", "merged"):
            x.retire(old, f"superseded by {lemma.id}")


def _merge(x: Exploration, rollout: Rollout) -> None:
    """Merge lemmas with equal statements in other rollouts; propose near-duplicates. Called in order of rollouts."""
    for lemma in sorted(_fresh(rollout), key=lambda lemma: lemma.number):
        if not lemma.in_library:
            continue
        first = x.lemmas.get(x.canonical.get(lemma.normal, ""))
        if first is not None and first.in_library and first.rollout != lemma.rollout:
            _merge_into(x, lemma, first)
            continue
        x.canonical[lemma.normal] = lemma.id
        for other, score in x.alike.add(lemma.id, lemma.normal):
            earlier = x.lemmas.get(other)
            if earlier and earlier.in_library and (earlier.rollout, earlier.number) != (lemma.rollout, lemma.number):
                x.emit(f"alike/{lemma.id}/{other}", LemmasAlike(lemma=lemma.id, other=other, similarity=score))


def _merge_into(x: Exploration, lemma: Lemma, into: Lemma) -> None:
    into = x.lemmas.representative(into)
    lemma.merged_into, lemma.status = into.id, "merged"
    x.emit(f"lemma/{lemma.id}/merged", LemmaMerged(lemma=lemma.id, into=into.id, reason="the statements are equal"))


def _survivors(rollout: Rollout) -> tuple[int, int]:
    """The number of new lemmas that hold, and of all new lemmas; those already in the library are not new."""
    fresh = [lemma for lemma in _fresh(rollout) if not (lemma.merged_into and not lemma.in_library)]
    return sum(lemma.in_library for lemma in fresh), len(fresh)


def _count_survivors(rollout: Rollout) -> None:
    survived, new = _survivors(rollout)
    rollout.idle_rounds = 0 if survived else rollout.idle_rounds + 1
    rollout.solved = rollout.claims_complete and rollout.summary_read and survived == new and bool(rollout.library())


def _end_round(x: Exploration, rollout: Rollout, round_: int, running: list[Rollout]) -> None:
    """End a rollout's round, and record why the rollout stops, if it does.

    Source: Intern-S1-MO §3, Fig. 2: a complete solution enters the revision loop; §5.4: parallel rollouts. `stop_together` and
    `patience` are ours.
    """
    solver = next((other for other in running if other.solved), None) if x.params.stop_together else None
    if x.cut_short:
        rollout.stop = "the rest of the budget is reserved for the write-up"
    elif rollout.solved:
        rollout.stop = "it claims a complete solution, and its lemmas hold"
    elif rollout.claims_complete and x.params.solved_by == "claim":
        rollout.stop = "it claims a complete solution"
    elif solver is not None and round_ < x.params.max_rounds:
        rollout.stop = f"rollout {solver.index} has a complete solution whose lemmas hold"
    elif rollout.idle_rounds >= x.params.patience:
        rollout.stop = f"no new lemma held in {rollout.idle_rounds} rounds"
    elif x.write_up:
        rollout.stop = "a person asked for the write-up"
    elif round_ == x.params.max_rounds:
        rollout.stop = "this was the last round"
    survived, _ = _survivors(rollout)
    ended = RoundEnded(rollout=rollout.index, round=round_, proposed=len(_fresh(rollout)), survived=survived, stop=rollout.stop)
    x.emit(f"s{rollout.index}/r{round_}/ended", ended)
