"""Choice of the device: a GPU that torch cannot use is rejected with advice, without a silent fallback to the CPU."""

from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement

from workers.training.devices import has_cuda
from workers.training.problems import BadConfig


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch that finds no GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("blind")
def test_auto_is_rejected_with_a_gpu_that_torch_cannot_use(tmp_path: Path) -> None:
    (tmp_path / "nvidia0").touch()
    with pytest.raises(BadConfig, match=r"This machine has a GPU .* set “device” to cpu"):
        has_cuda("auto", node=tmp_path / "nvidia0")
    assert not has_cuda("cpu", node=tmp_path / "nvidia0")


@pytest.mark.usefixtures("blind")
def test_without_a_gpu_auto_is_the_cpu_and_cuda_is_rejected(tmp_path: Path) -> None:
    assert not has_cuda("auto", node=tmp_path / "none")
    with pytest.raises(BadConfig, match="finds no working CUDA device"):
        has_cuda("cuda", node=tmp_path / "none")


def test_all_requirements_of_this_torch_are_installed() -> None:
    missing = []
    for line in requires("torch") or ():
        needed = Requirement(line)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            try:
                version(needed.name)
            except PackageNotFoundError:
                missing.append(line)
    assert missing == []
