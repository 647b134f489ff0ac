"""The parts of a problem that a grader is shown in addition to the script; every workflow declares them.

Points of two graders are comparable only if both were shown the same parts. The default is that of the workflow's paper;
further parts can be added if its prompts have a place for them.
"""

from apps.reasoning.domain.values import Value

PROBLEM, REFERENCE, GUIDELINES, SCHEME = "problem", "reference", "guidelines", "scheme"
#: The parts of a view in order, in words.
PARTS = {
    PROBLEM: "the problem",
    REFERENCE: "a reference solution",
    GUIDELINES: "the guidelines for markers",
    SCHEME: "the marking scheme",
}


class View(Value):
    """The parts of a problem that are shown. Preparation (sorting references, writing a rubric) never sees guidelines."""

    problem: bool = True
    reference: bool = False
    guidelines: bool = False
    scheme: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of what is shown, in the order of `PARTS`."""
        return tuple(part for part in PARTS if getattr(self, part))

    @property
    def words(self) -> str:
        """The parts in words, as the end of a sentence."""
        *before, last = (PARTS[part] for part in self.parts) if self.parts else ("nothing",)
        return f"{', '.join(before)} and {last}" if before else last

    def also(self, *parts: str) -> "View":
        """The view with these parts added."""
        return self.model_copy(update=dict.fromkeys(parts, True))


THE_PROBLEM = View()
