"""Programs about a problem rather than a script: preparation for graders, and measures of a problem's quality."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.reasoning.graders.grader import METHOD
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.scaffold import Scaffold


@dataclass(frozen=True)
class Preparer(Scaffold):
    """A scaffold about a problem. `lacks`: what its parameters lack, in words, before a run is made; "" if nothing."""

    lacks: Callable[[Any], str] = lambda _: ""

    @property
    def prompts(self) -> dict[str, str]:
        return loader.hashes(METHOD) | loader.hashes("shared")
