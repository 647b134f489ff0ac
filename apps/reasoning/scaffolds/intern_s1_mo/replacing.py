"""The correction of a lemma by a person at the start of a fork: a new version in place of the model's."""

import re

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.events import EdgeAdded, LemmaProposed, TextAnchor
from apps.reasoning.graph.lemma_graph import closes_cycle
from apps.reasoning.reading.mentions import mentions
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Lemma, Rollout

_BLANK_LINE = re.compile(r"\n\s*\n")


def steps_of(proof: str) -> tuple[str, ...]:
    """The steps of a proof that a person typed: its paragraphs."""
    return tuple(piece.strip() for piece in _BLANK_LINE.split(proof) if piece.strip())


def new_refusal(x: Exploration, command: Command) -> str:
    """The reason why the lemma of a fork's command cannot be changed, "" if it can: votes on it must not have begun."""
    lemma = x.lemmas.get(str(command.args.get("lemma", "")))
    if lemma is None:
        return f"There is no lemma {command.args.get('lemma', '')!s} at this point."
    return "" if lemma.status == "proposed" else f"Lemma {lemma.id} is {lemma.status} already."


def correction_refusal(x: Exploration, command: Command) -> str:
    """As `new_refusal`; a correction also needs a proof, or acceptance without votes."""
    if not (str(command.args.get("proof", "")).strip() or command.args.get("accepted")):
        return "A corrected lemma needs a proof for the votes, or your acceptance."
    return new_refusal(x, command)


def correct(x: Exploration, old: Lemma, command: Command) -> None:
    """Replace a new lemma by a person's version. Lemmas that cite it cite the version; it is voted on unless accepted."""
    rollout = x.lemmas.rollouts[old.rollout]
    lemma = _version(rollout, old, command)
    rollout.lemmas[lemma.id] = lemma
    rollout.fresh = [lemma.id if name == old.id else name for name in rollout.fresh]
    x.retire(old, f"corrected by {command.by} in this fork")
    event = LemmaProposed(
        lemma=lemma.id,
        number=lemma.number,
        rollout=lemma.rollout,
        round=lemma.round,
        statement=lemma.statement,
        steps=lemma.steps,
        supersedes=old.id,
        origin="human",
    )
    x.emit(f"lemma/{lemma.id}", event)
    lemma.uses, _ = x.connect_all(lemma.id, _texts(lemma), rollout)
    for user in [other for other in rollout.lemmas.values() if old.id in other.uses]:
        user.uses = [name for name in user.uses if name != old.id]
        _relink(x, user, lemma, rollout)
    if command.args.get("accepted"):
        x.restore(lemma, f"accepted by {command.by}")


def _version(rollout: Rollout, old: Lemma, command: Command) -> Lemma:
    versions = sum(lemma.number == old.number for lemma in rollout.lemmas.values())
    suffix = "-fixed" if versions == 1 else f"-fixed{versions}"
    return Lemma(
        id=f"s{rollout.index}.{old.number}{suffix}",
        number=old.number,
        label=f"{old.number}{suffix}",
        rollout=rollout.index,
        round=old.round,
        statement=str(command.args["statement"]).strip(),
        steps=steps_of(str(command.args.get("proof", ""))),
        supersedes=old.id,
    )


def _relink(x: Exploration, user: Lemma, lemma: Lemma, rollout: Rollout) -> None:
    """Let `user` use the corrected lemma where its text cites the old one."""
    for where, text in _texts(user):
        for mention in mentions(text):
            if x.lemmas.named(mention.label, rollout) is lemma and not closes_cycle(x.edges, user.id, lemma.id):
                x.edges.add_edge(lemma.id, user.id)
                anchor = TextAnchor(where=where, start=mention.start, end=mention.end, quote=mention.quote)
                x.emit(f"edge/{user.id}/{lemma.id}", EdgeAdded(user=user.id, used=lemma.id, evidence=anchor))
                user.uses.append(lemma.id)
                return


def _texts(lemma: Lemma) -> list[tuple[str, str]]:
    return [("statement", lemma.statement), *((f"step {n}", step) for n, step in enumerate(lemma.steps, 1))]
