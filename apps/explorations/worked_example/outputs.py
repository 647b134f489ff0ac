"""The authored texts in the answer formats of the roles (docs/intern_s1_mo_formats.md)."""

from apps.explorations.worked_example.authored import Lemma, Proof, Remark, Vote, Work


def reasoner_text(work: Work) -> str:
    return f"{work.text}\n\n<claim>{work.claim}</claim>"


def summary_text(opening: str, lemmas: tuple[Lemma, ...]) -> str:
    return "\n\n".join([opening, *(_lemma(lemma) for lemma in lemmas)])


def lemma_vote(vote: Vote) -> str:
    lines = [vote.opening] if vote.opening else []
    return "\n".join([*lines, *(_check(remark) for remark in vote.remarks), f"<verdict>{vote.first_fault}</verdict>"])


def proof_vote(vote: Vote) -> str:
    """Output of a process verifier, in the same format as a theorem verifier's."""
    return lemma_vote(vote)


def proof_text(proof: Proof) -> str:
    return f"{proof.opening}\n\n<proof>\n{_steps(proof.steps)}\n</proof>"


def _lemma(lemma: Lemma) -> str:
    body = f"<statement>{lemma.statement}</statement>\n{_steps(lemma.steps)}"
    return f'<lemma number="{lemma.label}">\n{body}\n</lemma>'


def _steps(steps: tuple[str, ...]) -> str:
    return "\n".join(f"<step>{step}</step>" for step in steps)


def _check(remark: Remark) -> str:
    severity = f' severity="{remark.severity}"' if remark.severity else ""
    return f'<check step="{remark.step}" sound="{"yes" if remark.sound else "no"}"{severity}>{remark.text}</check>'
