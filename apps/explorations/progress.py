"""A run in the terminal: a table of its state, and lines for notable events."""

from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from apps.explorations.liveness import liveness
from apps.explorations.unheard import fitted_words
from apps.explorations.words import role_word
from apps.runs.models import Run
from apps.runs.selectors import EventRow
from apps.ui.words import compact, duration


@dataclass
class Progress:
    """A fold over events."""

    open_calls: dict[str, str] = field(default_factory=dict)
    proposed: int = 0
    verified: int = 0
    rejected: int = 0
    votes: int = 0
    unread: int = 0
    proofs: int = 0
    solutions: int = 0
    round: int = 0

    def take(self, event: EventRow) -> str:
        """Count the event and return its line, or ""."""
        kind, body = event["kind"], event["body"]
        handler = getattr(self, "_" + kind.replace(".", "_"), None)
        return handler(body) if handler else ""

    def _call_began(self, body: dict[str, object]) -> str:
        self.open_calls[str(body["call"])] = str(body["role"])
        return ""

    def _call_ended(self, body: dict[str, object]) -> str:
        self.open_calls.pop(str(body["call"]), None)
        return ""

    def _call_failed(self, body: dict[str, object]) -> str:
        self.open_calls.pop(str(body["call"]), None)
        return f"call {body['call']} failed: {body['reason']}"

    def _call_retried(self, body: dict[str, object]) -> str:
        return f"call {body['call']}, attempt {body['attempt']}: {body['reason']}"

    def _output_unread(self, body: dict[str, object]) -> str:
        if body.get("again"):
            return f"requested again: {body['call']} ({body['reason']})"
        self.unread += 1
        return f"could not be read: {body['call']} ({body['reason']})"

    def _prompt_fitted(self, body: dict[str, object]) -> str:
        return f"fitted to the context: {body['call']} ({fitted_words(body)})"

    def _prompt_refused(self, body: dict[str, object]) -> str:
        return f"not asked: {body['call']}: {body['reason']}"

    def _round_began(self, body: dict[str, object]) -> str:
        self.round = max(self.round, int(str(body["round"])))
        return f"round {body['round']} of rollout {body['rollout']} began"

    def _round_ended(self, body: dict[str, object]) -> str:
        stop = f"; {body['stop']}" if body.get("stop") else ""
        lemmas = f"{body['survived']} of {body['proposed']} lemmas hold" if body["proposed"] else "no new lemma"
        return f"round {body['round']} of rollout {body['rollout']}: {lemmas}{stop}"

    def _lemma_proposed(self, body: dict[str, object]) -> str:
        self.proposed += 1
        return f"lemma {body['lemma']}: {body['statement']}"

    def _vote_cast(self, body: dict[str, object]) -> str:
        self.votes += 1
        return ""

    def _verdict_reached(self, body: dict[str, object]) -> str:
        if body["status"] == "verified":
            self.verified += 1
        elif body["status"] == "rejected":
            self.rejected += 1
        share = f"{body['passes']} of {body['valid']} votes" if body["valid"] else str(body["unscored"])
        return f"{body['subject']}: {body['status']} ({share})"

    def _candidate_drafted(self, body: dict[str, object]) -> str:
        self.solutions += 1
        return f"solution {body['candidate']} written"

    def _candidate_scored(self, body: dict[str, object]) -> str:
        if body.get("score") is None:
            return f"{body['candidate']}: no score could be read ({body['unscored']})"
        return f"{body['candidate']}: {float(str(body['score'])):g} of {float(str(body['scale'])):g}"

    def _pool_grouped(self, body: dict[str, object]) -> str:
        return str(body.get("reason") or "") if body.get("answers") else ""

    def _pair_decided(self, body: dict[str, object]) -> str:
        pair = body["pair"] if isinstance(body["pair"], list | tuple) else ()
        return f"{' against '.join(map(str, pair))}: {body['winner']}, by {body['by']}"

    def _proof_selected(self, body: dict[str, object]) -> str:
        return str(body["reason"])

    def _proof_drafted(self, body: dict[str, object]) -> str:
        self.proofs += 1
        return f"{body['proof']} written" + (f", answers {body['revises']}" if body.get("revises") else "")

    def _budget_spent(self, body: dict[str, object]) -> str:
        return f"the budget of {body['which']} is used up"

    def _run_failed(self, body: dict[str, object]) -> str:
        return f"failed: {body['reason']} {body['advice']}"

    def table(self, run: Run) -> Table:
        """The state of the run as a small table."""
        state = liveness(run, len(self.open_calls))
        table = Table.grid(padding=(0, 2))
        table.add_row("state", Text(state.words, style="bold"))
        table.add_row("round", str(self.round))
        roles = ", ".join(sorted({role_word(role) for role in self.open_calls.values()}))
        under_way = f"{len(self.open_calls)} under way" + (f" ({roles})" if roles else "")
        taken_over = (
            f", {run.inherited_calls:,} taken over ({compact(run.inherited_tokens)} tokens)" if run.inherited_calls else ""
        )
        table.add_row("calls", f"{run.calls:,} done{taken_over}, {under_way}")
        table.add_row("tokens", f"{compact(run.tokens)} in {duration(run.active_seconds)}")
        judged = f"{self.verified} verified, {self.rejected} rejected"
        if self.solutions:
            table.add_row("solutions", f"{self.solutions} written")
        else:
            table.add_row("lemmas", f"{self.proposed} proposed, {judged}; {self.votes} votes")
        if self.unread:
            table.add_row("unread", f"{self.unread} answers could not be read")
        return table
