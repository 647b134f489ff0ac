"""What one execution may use; its result is the core's `Execution`, which every reader of a tool's answer shares."""

from pydantic import Field

from apps.reasoning.domain.tools import Execution, ExecutionError
from apps.reasoning.domain.values import Value

__all__ = ["Execution", "ExecutionError", "Limits"]


class Limits(Value):
    """What one execution may use. `wall_s` counts from when the code is handed over, not from the start of its process.

    `memory_bytes` is address space, of which the warm libraries take about 400 MB. `scratch_bytes` is the private /tmp,
    `file_bytes` the largest single file in it. `output_bytes` is standard output and standard error together.
    """

    wall_s: float = Field(default=20.0, gt=0, le=3600)
    cpu_s: float = Field(default=20.0, gt=0, le=3600)
    memory_bytes: int = Field(default=1024**3, ge=64 * 1024**2)
    scratch_bytes: int = Field(default=64 * 1024**2, ge=4096)
    file_bytes: int = Field(default=64 * 1024**2, ge=4096)
    open_files: int = Field(default=256, ge=16)
    threads: int = Field(default=64, ge=1)
    output_bytes: int = Field(default=256 * 1024, ge=1024)
