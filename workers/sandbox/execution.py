"""What may be used and what came out: the limits of one execution and its result."""

from typing import Literal

from pydantic import Field

from apps.reasoning.domain.values import Value

ExecutionError = Literal["", "timeout", "memory", "output", "killed", "exception"]


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


class Execution(Value):
    """How one piece of code ended.

    `error` is empty where the code ended by itself with exit code 0; `exception` where it raised or ended with another code
    (the traceback is in `stderr`); `timeout`, `memory` and `output` name the limit that it met; `killed` is any other signal.
    The text that was written before is there in every case, `truncated` where it was cut. `exit_code` is negative for a
    signal and None where the sandbox ended the code. `duration_s` counts from when the code was handed over.
    """

    stdout: str = ""
    stderr: str = ""
    error: ExecutionError = ""
    exit_code: int | None = 0
    duration_s: float = 0.0
    truncated: bool = False
