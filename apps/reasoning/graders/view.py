"""What a grader is shown of a problem besides the script: a declared part of each workflow.

Points of two graders can be compared as points of graders only where both were shown the same. A workflow shows by default
what its paper gives it; a part more can be switched on where its prompts have a place for it.
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
    """Which parts of a problem are shown. Who only prepares (sorts references, writes a rubric) is shown no guidelines."""

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
        """For people, as the end of a sentence."""
        *before, last = (PARTS[part] for part in self.parts) if self.parts else ("nothing",)
        return f"{', '.join(before)} and {last}" if before else last

    def also(self, *parts: str) -> "View":
        """The view with these parts besides."""
        return self.model_copy(update=dict.fromkeys(parts, True))


THE_PROBLEM = View()
