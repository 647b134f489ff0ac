"""The choice of a fence, the reasons against stronger ones, and the proposed fixes."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from workers.sandbox import fences, landlock
from workers.sandbox import probe as ladder
from workers.sandbox.environment import Environment, NoEnvironment, find
from workers.sandbox.execution import Limits
from workers.sandbox.fences import Fenced, Level
from workers.sandbox.probe import probe


@pytest.fixture
def bubblewrap_says(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], None]:
    """Replace bubblewrap with a program that only prints an error."""

    def pretend(error: str) -> None:
        folder = tmp_path_factory.mktemp("bin")
        program = folder / "bwrap"
        program.write_text(f"#!/bin/sh\necho '{error}' >&2\nexit 1\n")
        program.chmod(0o755)
        for above in (folder, *folder.parents[:-2]):
            above.chmod(0o755)
        monkeypatch.setattr("workers.sandbox.fences.shutil.which", lambda name: str(program))

    return pretend


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Set the content of a file below /proc/sys."""
    values: dict[str, str] = {}
    monkeypatch.setattr(ladder, "_kernel", lambda name: values.get(name, ""))
    return values.__setitem__


@pytest.fixture
def no_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)


async def test_the_first_fence_that_holds_is_used() -> None:
    found = await probe()
    if found.level == "off":
        pytest.xfail(str(found))
    assert [rung.holds for rung in found.rungs] == [False] * (len(found.rungs) - 1) + [True]
    assert found.rungs[-1].level == found.level
    assert str(found).startswith("Python ")


async def test_the_sandbox_can_be_switched_off() -> None:
    found = await probe("off")
    assert (found.level, found.fix) == ("off", "set SANDBOX=auto")


async def test_without_an_environment_the_sandbox_is_off_and_names_the_command(tmp_path: Path) -> None:
    found = await probe(folder=tmp_path)
    assert found.level == "off"
    assert "make sandbox" in found.fix


async def test_an_environment_without_packages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "bin" / "python").chmod(0o755)
    with pytest.raises(NoEnvironment, match="does not start"):
        find(tmp_path)


async def test_without_bubblewrap_landlock_is_used_and_the_reason_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.sandbox.fences.shutil.which", lambda name: None)
    found = await probe()
    if found.environment is None or landlock.version() < landlock.OLDEST:
        pytest.xfail(str(found))
    assert (found.level, found.reason) == ("landlock", "bubblewrap is not installed")
    assert "apt install bubblewrap" in str(found)


@pytest.mark.parametrize(
    ("error", "files", "fix"),
    [
        ("bwrap: Unknown option --disable-userns", {}, "bubblewrap 0.8 or newer"),
        ("bwrap: setting up uid map: Permission denied", {"kernel/apparmor_restrict_unprivileged_userns": "1"}, "AppArmor"),
        ("bwrap: Creating new namespace failed", {"user/max_user_namespaces": "0"}, "user.max_user_namespaces=15000"),
        (
            "bwrap: No permissions to create new namespace",
            {"kernel/unprivileged_userns_clone": "0"},
            "unprivileged_userns_clone=1",
        ),
        ("bwrap: No permissions to create new namespace", {}, "container"),
    ],
)
@pytest.mark.usefixtures("no_landlock")
async def test_a_bubblewrap_that_does_not_work_is_reported_with_its_fix(
    bubblewrap_says: Callable[[str], None],
    kernel: Callable[[str, str], None],
    error: str,
    files: dict[str, str],
    fix: str,
) -> None:
    bubblewrap_says(error)
    for name, value in files.items():
        kernel(name, value)
    found = await probe()
    if found.environment is None:
        pytest.skip(str(found))
    assert found.level == "off"
    assert error in found.reason
    assert "the kernel offers no Landlock" in found.reason
    assert fix in found.fix
    assert str(found).startswith("Code execution is off: ")


async def test_a_demanded_fence_is_not_replaced_by_a_weaker_one(bubblewrap_says: Callable[[str], None]) -> None:
    bubblewrap_says("bwrap: broken")
    found = await probe("bubblewrap")
    if found.environment is None:
        pytest.skip(str(found))
    assert found.level == "off"
    assert [rung.level for rung in found.rungs] == ["bubblewrap"]


async def test_a_fence_that_does_not_hold_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    real = fences.fenced

    def without_a_fence(level: Level, environment: Environment, limits: Limits) -> Fenced:
        return real("unsafe-subprocess", environment, limits)

    monkeypatch.setattr(ladder, "fenced", without_a_fence)
    before = os.umask(0o077)  # As in workers; files that the code must not read stay readable.
    try:
        found = await probe()
    finally:
        os.umask(before)
    if found.environment is None:
        pytest.skip(str(found))
    assert found.level == "off"
    assert "the fence leaves open: fork, network, files, writing" in found.reason


async def test_running_without_a_sandbox_needs_debug_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    refused = await probe("unsafe-subprocess")
    assert (refused.level, refused.reason) == ("off", "SANDBOX=unsafe-subprocess works with DEBUG only")
    with caplog.at_level(logging.WARNING):
        found = await probe("unsafe-subprocess", debug=True)
    if found.environment is None:
        pytest.skip(str(found))
    assert found.level == "unsafe-subprocess"
    assert "WITHOUT a sandbox" in caplog.text
    assert "WITHOUT a sandbox" in str(found)
