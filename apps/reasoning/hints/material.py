"""The material for a hint, and the part of it that each rung may read (`sources_at`)."""

from collections.abc import Sequence

from apps.reasoning.domain.values import Value
from apps.reasoning.feedback.ladder import RUNGS, Source, Track, sources_at

#: Higher rungs are worked solutions, which people write.
WRITTEN_AT_MOST = 5
NONE = "(none)"


class Fault(Value):
    """An error: its step, its kind in words, and values at which one of its formulas fails; "" if unknown."""

    step: int
    kind: str = ""
    counterexample: str = ""


class HintMaterial(Value):
    """Everything known about a request. Prompts use only the part that `readable` allows.

    `steps`: the submitted text. `question`: the author's question. `tried`: their reply to the last hint; `argues`: the reply
    claims that they were right. `earlier`: hints given so far, lowest first. `scheme`: what earns points, without the points.
    `reference`: the steps of a reference solution.
    """

    problem: str
    track: Track
    steps: tuple[str, ...]
    question: str = ""
    tried: str = ""
    argues: bool = False
    earlier: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    scheme: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()


class Secret(Value):
    """What a hint must not reveal: solutions, scheme items and the final answer, except for text that its reader has."""

    solutions: tuple[str, ...] = ()
    scheme: tuple[str, ...] = ()
    answer: str = ""
    known: tuple[str, ...] = ()

    def texts_at(self, level: int) -> tuple[str, ...]:
        """The texts that a hint of this level must not reveal; the scheme is excluded if the rung may use it."""
        return self.solutions if Source.SCHEME in sources_at(level) else (*self.solutions, *self.scheme)


def readable(material: HintMaterial, level: int) -> HintMaterial:
    """The part of the material that a rung of this level may read. Raises `ValueError` for a rung that people write."""
    if level > WRITTEN_AT_MOST:
        raise ValueError(f"hint {level} is written by people")
    allowed = sources_at(level)
    faults = tuple(
        Fault(
            step=fault.step,
            kind=fault.kind if Source.TYPES in allowed else "",
            counterexample=fault.counterexample if Source.COUNTEREXAMPLE in allowed else "",
        )
        for fault in material.faults
    )
    return material.model_copy(
        update={
            "faults": faults if Source.LOCATIONS in allowed else (),
            "scheme": material.scheme if Source.SCHEME in allowed else (),
            "reference": material.reference if Source.REFERENCE in allowed else (),
        }
    )


def script_text(material: HintMaterial) -> str:
    """The text with its steps numbered."""
    return numbered(material.steps)


def words_text(material: HintMaterial) -> str:
    """The author's question and reply, in lines."""
    said = [f"Their question: {material.question}"] if material.question else []
    if material.tried:
        head = (
            "To the last hint they answer that their step is right" if material.argues else "What they tried with the last hint"
        )
        said.append(f"{head}: {material.tried}")
    return "\n".join(said) or NONE


def notes_text(material: HintMaterial) -> str:
    """The notes for a writer; `material` must be a result of `readable`."""
    parts: list[str] = []
    if material.faults:
        lines = [
            f"- step {fault.step}{f': {fault.kind}' if fault.kind else ''}"
            f"{f'. {fault.counterexample}' if fault.counterexample else ''}"
            for fault in material.faults
        ]
        parts.append("Something does not hold in these steps:\n" + "\n".join(lines))
    if material.scheme:
        parts.append("What a complete solution shows:\n" + "\n".join(f"- {line}" for line in material.scheme))
    if material.reference:
        parts.append("Steps of one solution, for the one claim that the hint is about:\n" + numbered(material.reference))
    return "\n\n".join(parts) or NONE


def rung_text(material: HintMaterial, level: int) -> str:
    """The content of the rung, for the last line of a prompt."""
    title = RUNGS[material.track][level].title
    return title[0].lower() + title[1:]


def numbered(steps: Sequence[str]) -> str:
    """`Step 1. …`, a paragraph each."""
    return "\n\n".join(f"Step {number}. {step.strip()}" for number, step in enumerate(steps, 1)) or NONE
