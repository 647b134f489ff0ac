"""A run in the terminal: a table of its state, and lines for notable events."""

from collections import Counter
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from apps.explorations.liveness import liveness
from apps.explorations.run_warnings import fitted_words
from apps.explorations.words import role_word
from apps.reasoning.domain import candidate_events as ce
from apps.reasoning.domain import events as ev
from apps.reasoning.domain.prompt_events import PromptFitted, PromptRefused
from apps.reasoning.story.run_story import RunStory
from apps.reasoning.story.vocabulary import EVENT_CLASSES, event_from
from apps.runs.models import Run
from apps.runs.selectors import EventRow
from apps.ui.words import compact, duration


@dataclass
class Progress:
    """The story of a run so far, in the terminal."""

    story: RunStory = field(default_factory=RunStory)

    def take(self, row: EventRow) -> str:
        """Add the event to the story and return its line, or "". An event of a later version has no effect."""
        if row["kind"] not in EVENT_CLASSES:
            return ""
        event = event_from(row["kind"], row["body"])
        self.story.add(row["seq"], event)
        return _of_run(event) or _of_lemmas(event) or _of_candidates(event)

    def table(self, run: Run) -> Table:
        """The state of the run as a small table."""
        calls, lemmas = self.story.calls, self.story.lemmas
        state = liveness(run, len(calls.open))
        table = Table.grid(padding=(0, 2))
        table.add_row("state", Text(state.words, style="bold"))
        table.add_row("round", str(self.story.course.round))
        roles = ", ".join(sorted({role_word(call.role) for call in calls.open.values()}))
        under_way = f"{len(calls.open)} under way" + (f" ({roles})" if roles else "")
        taken_over = (
            f", {run.inherited_calls:,} taken over ({compact(run.inherited_tokens)} tokens)" if run.inherited_calls else ""
        )
        table.add_row("calls", f"{run.calls:,} done{taken_over}, {under_way}")
        table.add_row("tokens", f"{compact(run.tokens)} in {duration(run.active_seconds)}")
        if solutions := self.story.candidates.by_id:
            table.add_row("solutions", f"{len(solutions)} written")
        else:
            judged = Counter(lemma.judged for lemma in lemmas.versions.values())
            words = f"{judged['verified']} verified, {judged['rejected']} rejected; {len(lemmas.votes)} votes"
            table.add_row("lemmas", f"{len(lemmas.versions)} proposed, {words}")
        if unread := [one for _, one in calls.unread if not one.again]:
            table.add_row("unread", f"{len(unread)} answers could not be read")
        return table


def _of_run(event: ev.Event) -> str:
    match event:
        case ev.CallFailed():
            return f"call {event.call} failed: {event.reason}"
        case ev.CallRetried():
            return f"call {event.call}, attempt {event.attempt}: {event.reason}"
        case ev.OutputUnread():
            return f"{'requested again' if event.again else 'could not be read'}: {event.call} ({event.reason})"
        case PromptFitted():
            return f"fitted to the context: {event.call} ({fitted_words(event)})"
        case PromptRefused():
            return f"not asked: {event.call}: {event.reason}"
        case ev.RoundBegan():
            return f"round {event.round} of rollout {event.rollout} began"
        case ev.RoundEnded():
            stop = f"; {event.stop}" if event.stop else ""
            lemmas = f"{event.survived} of {event.proposed} lemmas hold" if event.proposed else "no new lemma"
            return f"round {event.round} of rollout {event.rollout}: {lemmas}{stop}"
        case ev.BudgetSpent():
            return f"the budget of {event.which} is used up"
        case ev.RunFailed():
            return f"failed: {event.reason} {event.advice}"
    return ""


def _of_lemmas(event: ev.Event) -> str:
    match event:
        case ev.LemmaProposed():
            return f"lemma {event.lemma}: {event.statement}"
        case ev.VerdictReached():
            share = f"{event.passes} of {event.valid} votes" if event.valid else event.unscored
            return f"{event.subject}: {event.status} ({share})"
        case ev.ProofDrafted():
            return f"{event.proof} written" + (f", answers {event.revises}" if event.revises else "")
        case ev.ProofSelected():
            return event.reason
    return ""


def _of_candidates(event: ev.Event) -> str:
    match event:
        case ce.CandidateDrafted():
            return f"solution {event.candidate} written"
        case ce.CandidateScored(score=None):
            return f"{event.candidate}: no score could be read ({event.unscored})"
        case ce.CandidateScored():
            return f"{event.candidate}: {event.score:g} of {event.scale:g}"
        case ce.GroupsFormed():
            return event.reason if event.answers else ""
        case ce.PairDecided():
            return f"{' against '.join(event.pair)}: {event.winner}, by {event.by}"
    return ""
