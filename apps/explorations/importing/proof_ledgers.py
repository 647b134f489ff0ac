"""Proof ledgers of vibefeld (MIT, tobiasosborne/vibefeld): an append-only list of events, one JSON object each.

Nodes become lemmas; validations, refutations and challenges become votes. A worker that has taken a node is named in the
votes on it and in the nodes that it adds below it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from apps.explorations.importing.claims import Ballot, Claim, Claims, claim_id, words_of
from apps.explorations.importing.imported_run import ImportedRun, LogFile, LogWrong, listed, moment
from apps.reasoning.reading.decoded import keepable
from apps.reasoning.texts.latex import macros_shown

FORMAT = "proof ledger"
_KINDS = {"local_assume": "Assumption. ", "assumption": "Assumption. ", "definition": "Definition. "}
_PASSES = {"node_validated": "validated", "node_admitted": "admitted without proof"}
_FAULTS = {"node_refuted": "refuted", "challenge_raised": "challenged"}
_ANSWERED = {"challenge_resolved", "challenge_withdrawn", "challenge_superseded"}
#: A refreshed claim has the same owner; a taint follows from the votes.
_WITHOUT_EFFECT = {"claim_refreshed", "taint_recomputed"}
_NUMBER = re.compile(r"(\d+)\.json$")
_ROOT = "1"


def recognises(file: LogFile) -> bool:
    """Whether the file looks like one or more events of a ledger."""
    head = file.text.lstrip()[:400]
    return head.startswith("{") and '"type"' in head and ('"timestamp"' in head or '"node_id' in head)


def read(files: list[LogFile]) -> ImportedRun:
    """The run of a ledger in one file of lines or in one file per event. Raises `LogWrong` without a conjecture."""
    imported = ImportedRun(format=FORMAT, scaffold="proof_ledger", statement="", roles={"prover": "unknown model"})
    ledger = _Ledger(imported)
    for where, event in _events(files, imported):
        ledger.take(where, event)
    if not imported.statement:
        raise LogWrong(f"{files[0].name} was not imported: the ledger has no proof_initialized event with a conjecture.")
    ledger.end()
    return imported


class _Ledger:
    """A fold over the events of a ledger in order."""

    def __init__(self, imported: ImportedRun) -> None:
        self.imported = imported
        self.claims = Claims(imported)
        self.owners: dict[str, str] = {}
        """The worker that has taken a node, by node."""
        self.challenges: dict[str, tuple[str, int]] = {}
        """Challenges by id and by node: the node, and the number of the challenge among its votes."""
        self.answered: set[tuple[str, int]] = set()

    def take(self, where: str, event: dict[str, Any]) -> None:
        """Add one event."""
        kind, at = str(event.get("type") or ""), moment(event.get("timestamp"))
        if kind == "proof_initialized":
            self.imported.statement = self.imported.statement or str(event.get("conjecture") or "").strip()
            self.imported.roles = {"prover": str(event.get("author") or "unknown model")[:80]}
        elif kind == "node_created":
            self._created(where, event)
        elif kind in _PASSES or kind in _FAULTS:
            challenge = event.get("challenge")
            challenge = challenge if isinstance(challenge, dict) else {}
            found = {**challenge, **event}
            note = next((str(found[name]) for name in ("note", "reason", "message", "target") if found.get(name)), "")
            name = claim_id(found.get("node_id") or found.get("target_id") or "")
            word = f"{_PASSES.get(kind) or _FAULTS[kind]}{_by(self.owners.get(name, ''))}"
            self.claims.vote(Ballot(name or where, kind in _PASSES, f"{word}: {note}" if note else word, at))
            if kind == "challenge_raised" and name in self.claims.votes:
                number = str(found.get("challenge_id") or challenge.get("id") or "")
                self.challenges[number] = self.challenges[f"node {name}"] = name, len(self.claims.votes[name])
        elif kind in _ANSWERED:
            number = str(event.get("challenge_id") or f"node {claim_id(event.get('node_id'))}")
            if number in self.challenges:
                self.answered.add(self.challenges[number])
            else:
                self.imported.unread(where, f"“{kind}” of an unknown challenge", at)
        elif kind == "node_archived":
            self.claims.retire(claim_id(event.get("node_id")), "archived in the ledger", at)
        elif kind == "nodes_claimed":
            self.owners |= dict.fromkeys(self._taken(where, event), str(event.get("owner") or "")[:80])
        elif kind in ("nodes_released", "lock_reaped"):
            for name in self._taken(where, event):
                self.owners.pop(name, None)
        elif kind not in _WITHOUT_EFFECT:
            self.imported.unread(where, f"unknown event “{kind[:60]}”", at)

    def _taken(self, where: str, event: dict[str, Any]) -> list[str]:
        """The nodes that a worker takes or releases."""
        return [claim_id(name) for name in listed(event, "node_ids", where, self.imported) or [event.get("node_id")]]

    def _created(self, where: str, event: dict[str, Any]) -> None:
        node = event.get("node")
        name = claim_id(node.get("id")) if isinstance(node, dict) else ""
        at = moment(event.get("timestamp"))
        if not isinstance(node, dict) or not name or not str(node.get("statement") or "").strip():
            self.imported.unread(where, "a node without an id or a statement", at)
            return
        named = listed(node, "dependencies", where, self.imported)
        uses = [(claim_id(used), f"dependency {used}") for used in named if claim_id(used)]
        kind, writer = str(node.get("type")), self.owners.get(name.rpartition(".")[0], "")
        claim = Claim(
            id=name,
            statement=_KINDS.get(kind, "") + macros_shown(str(node["statement"]).strip()),
            at=at,
            depth=name.count(".") + 1,
            about=" ".join(filter(None, (words_of(node, inference="Justified by"), writer and f"Written by {writer}."))),
            uses=uses,
            where=where,
        )
        self.claims.add(claim)

    def end(self) -> None:
        """Add uses of the conclusions of each claim's parts, then the proof of the conjecture."""
        for name in list(self.claims.known):
            parts = [one for one in self.claims.known if one.rpartition(".")[0] == name]
            used = set().union(*(self.claims.uses[one] for one in parts)) if parts else set()
            for one in parts:
                if one not in used:
                    self.claims.use(name, one, f"it concludes the proof of {name}")
        ends = [_ROOT] if _ROOT in self.claims.known else self.claims.sinks()
        last = [self._last_word(end) for end in ends]
        if last and all(last):
            self.claims.conclude(ends, True, "The ledger validates the conjecture.")
        elif False in last:
            self.claims.conclude(ends, False, "The last verdict of the ledger rejects the conjecture.")
        else:
            self.claims.conclude(ends, None, "The ledger ends before the conjecture is validated.")

    def _last_word(self, claim: str) -> bool | None:
        """The last vote on a claim, ignoring answered challenges."""
        votes = enumerate(self.claims.votes.get(claim, []), start=1)
        valid = [holds for number, holds in votes if (claim, number) not in self.answered]
        return valid[-1] if valid else None


def _by(owner: str) -> str:
    return f" by {owner}" if owner else ""


def _events(files: list[LogFile], imported: ImportedRun) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events with their places; invalid JSON and missing numbers are reported in the run."""
    expected = 0
    for file in files:
        number = _NUMBER.search(file.name)
        if number and len(files) > 1:
            if expected and int(number[1]) > expected:
                imported.unread(file.name, f"event {expected} is missing before it")
            expected = int(number[1]) + 1
        for line, text in enumerate(_pieces(file.text), start=1):
            where = file.name if len(files) > 1 else f"line {line}"
            try:
                event = keepable(json.loads(text, strict=False))
            except (ValueError, RecursionError):
                event = None
            if isinstance(event, dict):
                yield where, event
            else:
                imported.unread(where, "truncated or invalid JSON")


def _pieces(text: str) -> list[str]:
    """The lines, or the whole text if it is one JSON object over several lines."""
    rows = [row for row in text.split("\n") if row.strip()]
    if len(rows) > 1 and not rows[0].rstrip().endswith("}"):
        return [text]
    return rows
