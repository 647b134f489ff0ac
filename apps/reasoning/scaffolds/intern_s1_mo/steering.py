"""Commands of people at control points, and their effects."""

import re

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.events import LemmaProposed
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import HUMAN, Lemma
from apps.reasoning.scaffolds.intern_s1_mo.replacing import correct, correction_refusal, new_refusal, steps_of
from apps.reasoning.scaffolds.intern_s1_mo.verification import verify_lemma
from apps.reasoning.scaffolds.running.concurrently import concurrently

MAX_TEXT = 20_000
#: Points that are followed by a prompt with hints: those of the reasoner and the reviser.
_BEFORE_HINTS = re.compile(r"r\d+/reason|final/revise/\d+")


async def steer(x: Exploration, point: str) -> None:
    """Apply commands at a control point, and collect the votes on people's new lemmas before anything else begins."""
    before = set(x.lemmas.human)
    for command in await x.ctx.control(point, lambda command: refusal(x, command, point)):
        _apply(x, command, point)
    new = [lemma for lemma in x.lemmas.human.values() if lemma.id not in before and lemma.steps]
    await concurrently(verify_lemma(x, lemma, None, "human/verify") for lemma in new)


def refusal(x: Exploration, command: Command, point: str) -> str | None:
    """The reason why the command cannot take effect, "" if it can, None if it waits for a prompt that reads it."""
    match command.name:
        case "hint":
            wrong = _text_refusal("The hint", command.args.get("text"))
            return wrong or ("" if _BEFORE_HINTS.fullmatch(point) else None)
        case "inject_lemma":
            proof = command.args.get("proof", "")
            too_long = (
                "" if isinstance(proof, str) and len(proof) <= MAX_TEXT else f"A proof has at most {MAX_TEXT} characters."
            )
            return _text_refusal("The statement", command.args.get("statement")) or too_long
        case "accept_lemma" | "reject_lemma":
            lemma = x.lemmas.get(str(command.args.get("lemma", "")))
            if lemma is None:
                return f"There is no lemma {command.args.get('lemma', '')!s}."
            if command.name == "accept_lemma" and lemma.accepted_by_person and lemma.in_library:
                return f"Lemma {lemma.id} is accepted already."
            return ""
        case "leave_out_lemma":
            return new_refusal(x, command)
        case "correct_lemma":
            return correction_refusal(x, command) or _text_refusal("The statement", command.args.get("statement"))
        case "write_up":
            return "The write-up has begun already." if x.write_up else ""
        case _:
            return ""


def _text_refusal(what: str, text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        return f"{what} is empty."
    return f"{what} is longer than {MAX_TEXT} characters." if len(text) > MAX_TEXT else ""


def _apply(x: Exploration, command: Command, point: str) -> None:
    reason = str(command.args.get("reason", "")).strip()
    match command.name:
        case "hint":
            x.hints.append(command.args["text"].strip())
        case "write_up":
            x.write_up = True
        case "inject_lemma":
            _inject(x, command, _round_of(point))
        case "accept_lemma":
            lemma = x.lemmas.representative(_lemma(x, command))
            x.restore(lemma, reason or "accepted by a person")
        case "reject_lemma":
            _reject(x, _lemma(x, command), reason or "rejected by a person")
        case "leave_out_lemma":
            _leave_out(x, _lemma(x, command), f"left out of this fork by {command.by}")
        case "correct_lemma":
            correct(x, _lemma(x, command), command)
        case _:
            pass


def _leave_out(x: Exploration, lemma: Lemma, reason: str) -> None:
    """Remove a new lemma and its equals in other rollouts, and reject its statement from now on."""
    x.left_out.add(lemma.normal)
    for same in [other for other in x.lemmas if other.normal == lemma.normal and other.status != "retired"]:
        _reject(x, same, reason)
    for rollout in x.lemmas.rollouts:
        rollout.fresh = [name for name in rollout.fresh if rollout.lemmas[name].status != "retired"]


def _lemma(x: Exploration, command: Command) -> Lemma:
    lemma = x.lemmas.get(str(command.args["lemma"]))
    if lemma is None:
        raise KeyError(f"the command {command.id} names a lemma that does not exist")
    return lemma


def _reject(x: Exploration, lemma: Lemma, reason: str) -> None:
    """Remove a lemma, its merged twins and all their dependants from the library, and so from later prompts."""
    for twin in x.lemmas.twins(lemma):
        twin.accepted_by_person = False
        if twin.status != "retired":
            x.retire(twin, reason)
        for dependant in x.lemmas.dependants(twin):
            if dependant.in_library:
                x.retire(dependant, f"its proof uses {twin.id}, which a person rejected")
    for proof in x.proofs:
        if not proof.objection and any(_rests_on(x, name, lemma) for name in proof.uses):
            proof.accepted, proof.objection = False, f"it rests on {lemma.id}, which a person rejected"
            proof.findings.append(f"Lemma {x.final_label(lemma)} was rejected by a person: {reason}")


def _rests_on(x: Exploration, name: str, lemma: Lemma) -> bool:
    used = x.lemmas.get(name)
    return used is not None and any(other in x.lemmas.twins(lemma) for other in x.lemmas.support([used]))


def _inject(x: Exploration, command: Command, round_: int) -> None:
    """Add a person's lemma. With a proof it is voted on like any other; without one it is only shown as a suggestion."""
    number = len(x.lemmas.human) + 1
    proof = str(command.args.get("proof", "")).strip()
    lemma = Lemma(
        id=f"h.{number}",
        number=number,
        label=f"H{number}",
        rollout=HUMAN,
        round=round_,
        statement=command.args["statement"].strip(),
        steps=steps_of(proof),
    )
    x.lemmas.human[lemma.id] = lemma
    event = LemmaProposed(
        lemma=lemma.id,
        number=number,
        rollout=0,
        round=round_,
        statement=lemma.statement,
        steps=lemma.steps,
        origin="human",
    )
    x.emit(f"lemma/{lemma.id}", event)
    texts = [("statement", lemma.statement), *((f"step {n}", step) for n, step in enumerate(lemma.steps, 1))]
    lemma.uses, _ = x.connect_all(lemma.id, texts, None)


def _round_of(point: str) -> int:
    found = re.match(r"r(\d+)/", point)
    return int(found.group(1)) if found else 0
