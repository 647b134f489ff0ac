"""Texts in the formats that scaffolds of candidates ask for, and models that follow them."""

from apps.reasoning.domain.generation import GenerationRequest
from tests.reasoning.play import proof


def named(request: GenerationRequest) -> str:
    """A solution that says which call wrote it."""
    return proof(f"This is what {request.key} wrote.", "So the claim holds.")


def decision(value: str, *issues: tuple[str, str]) -> str:
    log = [f'<issue severity="{severity}"><quote>the claim</quote>{comment}</issue>' for severity, comment in issues]
    return "\n".join(["I went through it.", *log, f"<decision>{value}</decision>"])


PASS = decision("pass")
FAIL = decision("fail", ("critical", "It does not follow."))


def score(value: float) -> str:
    return f"I looked at every step.\n<score>{value:g}</score>"


def better(choice: str) -> str:
    return f"They differ in step 1.\n<better>{choice}</better>"
