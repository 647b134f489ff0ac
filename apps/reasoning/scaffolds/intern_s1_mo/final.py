"""The final phase: write the proof from the library, check it step by step, revise it until it is accepted."""

from apps.reasoning.domain.events import ProofDrafted
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.prompts.loader import RenderedPrompt
from apps.reasoning.reading.mentions import mentions
from apps.reasoning.reading.proofs import STEPS_SCHEMA, NoProof, ReadProof, read_proof
from apps.reasoning.scaffolds.answer_line import AnswerAsked
from apps.reasoning.scaffolds.intern_s1_mo.asking import complete_work, final_lemmas, final_library, revise_prompt, write_prompt
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration, Proof
from apps.reasoning.scaffolds.intern_s1_mo.steering import steer
from apps.reasoning.scaffolds.intern_s1_mo.verification import verify_proof
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import Reading


async def finish(x: Exploration) -> None:
    """Write, check and revise; `x.proofs` collects all versions with their findings and acceptance.

    Source: Intern-S1-MO §3 and Fig. 2: a solution claimed by a round is revised until it passes, whether lemmas hold or not.
    The writer, who first writes it out from the library and the round's text, is ours.
    """
    await steer(x, "final/write")
    if not final_lemmas(x) and not complete_work(x):
        return
    x.was_written_up = True
    candidates, library = range(1, x.params.candidates + 1), final_library(x)
    await concurrently(
        _draft(x, f"final/write/{number}", "writer", write_prompt(x, library, number), 1, number, None) for number in candidates
    )
    await _check(x, 1)
    for revision in range(1, x.params.revisions + 1):
        parent = best(x)
        if parent is None or not _is_worth_revising(x, parent):
            return
        await steer(x, f"final/revise/{revision}")
        if not _is_worth_revising(x, parent):
            return
        library = final_library(x)
        await concurrently(
            _draft(
                x,
                f"final/revise/{revision}/{number}",
                "reviser",
                revise_prompt(x, library, parent, revision, number),
                revision + 1,
                number,
                parent,
            )
            for number in candidates
        )
        await _check(x, revision + 1)


def best(x: Exploration) -> Proof | None:
    """The accepted version, else the one with the best pass share; ties go to the newest version, then its first candidate."""
    return max(x.proofs, key=lambda proof: rank(proof.id, accepted=proof.accepted, share=proof.share), default=None)


def rank(proof: str, *, accepted: bool, share: float) -> tuple[bool, float, int, int]:
    """The order of versions of the proof; the selected one is the last. `share` is -1 without a valid vote."""
    version, candidate = _numbers(proof)
    return accepted, share, version, -candidate


def _is_worth_revising(x: Exploration, proof: Proof) -> bool:
    """Whether there are findings to fix and a revision is still allowed."""
    return x.params.process_verifier and not x.write_up and not proof.accepted and bool(proof.findings)


async def _check(x: Exploration, version: int) -> None:
    new = sorted((proof for proof in x.proofs if _numbers(proof.id)[0] == version), key=lambda proof: _numbers(proof.id))
    if not x.params.process_verifier or not new:
        return
    await steer(x, f"final/check/{version}")
    await concurrently(verify_proof(x, proof) for proof in new)
    await steer(x, f"final/votes/{version}")


async def _draft(
    x: Exploration, call: str, role: str, prompt: RenderedPrompt, version: int, candidate: int, parent: Proof | None
) -> None:
    place = Place(subject=f"proof {version}", index=candidate)

    def reading(final: Final, first: str = "") -> ReadProof | NoProof | Unscored:
        return read_proof(final, prompt.text)

    heard_by = Reading[ReadProof | NoProof](reading, "solution", reading, STEPS_SCHEMA, asks_json="solution_json")
    asking = AnswerAsked(heard_by, prompt, _proof_of, lambda _, proof: proof)
    read, call, _ = await asking.hear(call, x.problem, lambda reading: x.hear(call, role, prompt, place, reading))
    if isinstance(read, Unscored):
        return
    if isinstance(read, NoProof):
        x.refusals[call] = read.reason
        return
    several = x.params.candidates > 1
    proof = Proof(id=f"proof/{version}.{candidate}" if several else f"proof/{version}", steps=read.steps)
    drafted = ProofDrafted(
        proof=proof.id,
        text=read.text,
        steps=read.steps,
        call=call,
        rollout=0,
        revises=parent.id if parent else "",
        candidate=candidate if several else 0,
        read_as=read.way,
    )
    x.emit(f"{proof.id}/drafted", drafted)
    texts = [(f"step {number}", step) for number, step in enumerate(read.steps, 1)]
    proof.uses, refused = x.connect_all(proof.id, texts, None)
    for number, note in enumerate(refused, 1):
        x.unread(call, role, note, number)
    named = (mention for step in read.steps for mention in mentions(step))
    proof.missing = list(dict.fromkeys(one.label for one in named if x.lemmas.named(one.label, None) is None))
    x.proofs.append(proof)


def _proof_of(found: ReadProof | NoProof) -> ReadProof | None:
    return found if isinstance(found, ReadProof) else None


def _numbers(proof: str) -> tuple[int, int]:
    """Version and candidate of `proof/3.2`; candidate 0 for `proof/3`."""
    version, _, candidate = proof.removeprefix("proof/").partition(".")
    return int(version), int(candidate or 0)
