"""Limits of one execution. Its result is the core's `Execution`, which all readers of tool answers share."""

from pydantic import Field

from apps.reasoning.domain.tools import Execution, ExecutionError
from apps.reasoning.domain.values import Value

__all__ = ["Execution", "ExecutionError", "Limits"]


class Limits(Value):
    """Resource limits of one execution. `wall_s` counts from the moment the process receives the code, not from its start.

    `memory_bytes`: address space, of which the warm libraries use about 400 MB. `scratch_bytes`: the private /tmp.
    `file_bytes`: the largest single file in it. `output_bytes`: standard output and standard error together.
    """

    wall_s: float = Field(default=20.0, gt=0, le=3600)
    cpu_s: float = Field(default=20.0, gt=0, le=3600)
    memory_bytes: int = Field(default=1024**3, ge=64 * 1024**2)
    scratch_bytes: int = Field(default=64 * 1024**2, ge=4096)
    file_bytes: int = Field(default=64 * 1024**2, ge=4096)
    open_files: int = Field(default=256, ge=16)
    threads: int = Field(default=64, ge=1)
    output_bytes: int = Field(default=256 * 1024, ge=1024)
