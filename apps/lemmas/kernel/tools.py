"""The proof assistants that are configured here."""

import shutil

from django.conf import settings


def tools_here() -> list[str]:
    """The configured proof assistants: Coq by `COQ_BIN` or in PATH, Lean by `LEAN_BIN`."""
    return [tool for tool in ("coq", "lean") if settings.KERNEL_CHECKS and shutil.which(program_of(tool))]


def program_of(tool: str) -> str:
    """The program of a tool as configured; empty without one."""
    return {"coq": settings.COQ_BIN, "lean": settings.LEAN_BIN}[tool]
