"""Programs about a problem itself rather than a script: what graders need, and what is known of a problem's quality."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.reasoning.graders.grader import METHOD
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.scaffold import Scaffold


@dataclass(frozen=True)
class Preparer(Scaffold):
    """`lacks` says in words what its parameters lack, before a run is made; "" where nothing."""

    lacks: Callable[[Any], str] = lambda _: ""

    @property
    def prompts(self) -> dict[str, str]:
        return loader.hashes(METHOD) | loader.hashes("shared")
