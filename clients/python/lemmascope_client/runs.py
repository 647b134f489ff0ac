"""One run: its state, events, lemmas and calls, and the commands that steer it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lemmascope_client.events import Event, event_of, events_followed
from lemmascope_client.frames import calls_frame, events_frame, frame
from lemmascope_client.transport import Transport

if TYPE_CHECKING:
    import pandas

LIVE = frozenset({"queued", "running", "paused"})
PATIENCE_S = 300.0
_PAGE = 1000


class Run:
    """A run on the server. `data` has the fields of `RunOut` as of the last request; `refresh` reads them again."""

    def __init__(self, transport: Transport, data: Mapping[str, Any]) -> None:
        self._transport = transport
        self.data = dict(data)

    def __repr__(self) -> str:
        return f"<Run {self.id} {self.data['title']!r}: {self.status}>"

    @property
    def id(self) -> str:
        """The identifier, as in the address of its page."""
        return str(self.data["id"])

    @property
    def status(self) -> str:
        """queued, running, paused, finished, cancelled, failed or needs_fork."""
        return str(self.data["status"])

    @property
    def is_live(self) -> bool:
        """Whether more events may come."""
        return self.status in LIVE

    @property
    def outcome(self) -> dict[str, Any] | None:
        """The outcome, with `accepted` and its reason; None before the end."""
        found: dict[str, Any] | None = self.data["outcome"]
        return found

    def refresh(self) -> "Run":
        """Read the run again."""
        self.data = self._transport.get(f"runs/{self.id}")
        return self

    # --- reading ---

    def follow(self, after: int = 0, patience_s: float = PATIENCE_S) -> Iterator[Event]:
        """Events after a number as they are recorded, until the run has ended; reconnects where the connection breaks.

        `data` is read again at the end. Raises `Disconnected` after `patience_s` seconds without a connection.
        """
        yield from events_followed(self._transport, self.id, after, patience_s)
        self.refresh()

    def wait(self, patience_s: float = PATIENCE_S) -> "Run":
        """Wait until the run has ended. A paused run is waited for too."""
        for _ in self.follow(int(self.data["last_seq"]), patience_s):
            pass
        return self

    def events(self, *kinds: str) -> Iterator[Event]:
        """The events recorded so far, only of these kinds where given."""
        since, has_more = 0, True
        while has_more:
            page = self._transport.get(f"runs/{self.id}/events", {"since": since, "limit": _PAGE, "kind": list(kinds)})
            yield from map(event_of, page["events"])
            since, has_more = page["next_since"], page["has_more"]

    def lemmas(self) -> list[dict[str, Any]]:
        """All lemma versions with their votes, as `LemmaOut`. `confidence` is None while unverified or unscored, never 0."""
        found: list[dict[str, Any]] = self._transport.get(f"runs/{self.id}/lemmas")["items"]
        return found

    def graph(self) -> dict[str, Any]:
        """Nodes and edges of the lemma graph (docs/graph_data.md)."""
        found: dict[str, Any] = self._transport.get(f"runs/{self.id}/graph")
        return found

    def lemmas_frame(self) -> "pandas.DataFrame":
        """One row a lemma version."""
        return frame(self.lemmas())

    def calls_frame(self) -> "pandas.DataFrame":
        """One row a call of a model, with tokens and seconds."""
        return calls_frame(self.events("call.began", "call.ended", "call.failed"))

    def events_frame(self, *kinds: str) -> "pandas.DataFrame":
        """One row an event, only of these kinds where given."""
        return events_frame(self.events(*kinds))

    # --- steering: each is recorded at once and takes effect at the next control point ---

    def pause(self) -> dict[str, Any]:
        """Start no new calls; running ones end."""
        return self._command("pause")

    def resume(self) -> "Run":
        """Continue a paused run, or queue a failed one again."""
        if self.refresh().status == "failed":
            self.data = self._transport.post(f"runs/{self.id}/resume")
        else:
            self._command("resume")
        return self

    def cancel(self) -> dict[str, Any]:
        """Stop the run; all that is recorded stays."""
        return self._command("cancel")

    def write_up(self) -> dict[str, Any]:
        """Stop exploring and write the proof from the present lemmas."""
        return self._command("write_up")

    def hint(self, text: str) -> dict[str, Any]:
        """Give the models a hint. The run is marked as assisted."""
        return self._command("hint", text=text)

    def inject(self, statement: str, proof: str = "") -> dict[str, Any]:
        """Add a lemma; with a proof, verifiers vote on it. The run is marked as assisted."""
        return self._command("inject_lemma", statement=statement, **({"proof": proof} if proof else {}))

    def annotate(self, lemma: str, *, accepted: bool, reason: str = "") -> dict[str, Any]:
        """Give a person's verdict on a lemma of a live run (`lemma`: its id, such as s0.7). It overrides the votes."""
        answer: dict[str, Any] = self._transport.post(
            f"runs/{self.id}/lemmas/{lemma}/verdict", {"accepted": accepted, "reason": reason}
        )
        return answer

    def extend(self, *, tokens: int | None = None, calls: int | None = None, seconds: float | None = None) -> dict[str, Any]:
        """Add to limits that the run has."""
        amounts = {"tokens": tokens, "calls": calls, "seconds": seconds}
        return self._command("extend_budget", **{name: more for name, more in amounts.items() if more is not None})

    def fork(self, **changes: Any) -> "Run":
        """Start a run with this plan and the changes, with the fields of `Client.start`; equal calls are taken over."""
        return Run(self._transport, self._transport.post(f"runs/{self.id}/fork", changes))

    def fork_offers(self, *, event: int = 0, call: str = "", lemma: str = "") -> dict[str, Any]:
        """What a fork from an event, a call or a lemma can change, and the calls that it takes over, as `ForkOffersOut`."""
        given = {"event": event, "call": call, "lemma": lemma}
        found: dict[str, Any] = self._transport.get(f"runs/{self.id}/fork/here", {k: v for k, v in given.items() if v})
        return found

    def fork_here(self, change: str, *, event: int = 0, call: str = "", lemma: str = "", **texts: Any) -> "Run":
        """Start a fork from an event, a call or a lemma; earlier calls are taken over.

        `change`: `unchanged`, `hint` (with `text`), `without` the lemma, or `corrected` (with `statement`, and with `proof` or
        `accepted=True`).
        """
        body = {"change": change, "event": event, "call": call, "lemma": lemma, **texts}
        return Run(self._transport, self._transport.post(f"runs/{self.id}/fork/here", body))

    # --- notes and tags: `kind` is run, lemma, step or call, and `target` the id or key of the part ---

    def notes(self, kind: str = "", target: str = "", *, is_open: bool = False) -> list[dict[str, Any]]:
        """The notes on the run and its parts, oldest first, as `NoteOut`; with `is_open`, only those that are not resolved."""
        asked = {name: value for name, value in (("kind", kind), ("target", target)) if value}
        found: list[dict[str, Any]] = self._transport.get(f"runs/{self.id}/notes", {**asked, "is_open": is_open})["items"]
        return found

    def note(self, text: str, kind: str = "run", target: str = "") -> dict[str, Any]:
        """Write a note. `unreached` of the answer are mentioned names that received nothing."""
        answer: dict[str, Any] = self._transport.post(f"runs/{self.id}/notes", {"text": text, "kind": kind, "target": target})
        return answer

    def note_change(self, note: int, *, text: str | None = None, is_resolved: bool | None = None) -> dict[str, Any]:
        """Correct your own note, or mark any note as resolved or as open again."""
        body = {"text": text, "is_resolved": is_resolved}
        answer: dict[str, Any] = self._transport.patch(f"runs/{self.id}/notes/{note}", body)
        return answer

    def note_delete(self, note: int) -> dict[str, Any]:
        """Delete your own note, or any note of a run that you may steer."""
        answer: dict[str, Any] = self._transport.delete(f"runs/{self.id}/notes/{note}")
        return answer

    def tags(self) -> list[dict[str, Any]]:
        """The tags on the run and its parts, as `TagOut`."""
        found: list[dict[str, Any]] = self._transport.get(f"runs/{self.id}/tags")["items"]
        return found

    def tag(self, *names: str, kind: str = "run", target: str = "") -> list[str]:
        """Add tags. Returns all tags of this place."""
        return self._tagged({"add": names, "kind": kind, "target": target})

    def untag(self, *names: str, kind: str = "run", target: str = "") -> list[str]:
        """Remove your own tags, or any of a run that you may steer. Returns the tags that are left at this place."""
        return self._tagged({"remove": names, "kind": kind, "target": target})

    def _tagged(self, body: dict[str, Any]) -> list[str]:
        return [tag["name"] for tag in self._transport.patch(f"runs/{self.id}/tags", body)["items"]]

    def _command(self, name: str, **fields: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._transport.post(f"runs/{self.id}/commands", {"name": name, **fields})
        return answer
