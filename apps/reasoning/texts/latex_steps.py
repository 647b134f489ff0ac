"""The steps of a text submitted as LaTeX: a marker points to visible text, so no step is invisible.

The preamble, lines that only begin or end an environment, and text after the document belong to the next step, or the previous
one. Every character that is not white space is in exactly one step.
"""

from apps.reasoning.texts.latex import latex_shown
from apps.reasoning.texts.segmentation import SEGMENTER, Step, segment

_BEGIN, _END = "\\begin{document}", "\\end{document}"


def steps_of(source: str, text_format: str) -> tuple[Step, ...]:
    """The steps of a source in the format that its author chose."""
    return segment(source) if text_format != "latex" else latex_steps(source)


def segmenter_of(text_format: str) -> str:
    """By which rules `steps_of` cuts a text of this format; kept with the steps."""
    return f"{SEGMENTER}-latex" if text_format == "latex" else SEGMENTER


def latex_steps(source: str) -> tuple[Step, ...]:
    """The steps of a LaTeX text. One of which nothing is shown at all is one step."""
    body = max(source.find(_BEGIN), 0)
    after = source.find(_END)

    def is_silent(start: int, end: int) -> bool:
        return end <= body or (0 <= after <= start) or not latex_shown(source[start:end])

    return segment(source, is_silent=is_silent)
