"""The sandbox's own environment: its contents, and a readable copy where the project is private."""

import os
import stat
from pathlib import Path

import pytest

from workers.sandbox import environment
from workers.sandbox.environment import DEFAULT, SANDBOX_UID, NoEnvironment, find

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs code as another user")


@pytest.fixture
def found() -> environment.Environment:
    try:
        return find()
    except NoEnvironment as error:
        pytest.skip(f"{error}; {error.fix}")


def test_it_has_the_locked_libraries_and_nothing_of_the_application(found: environment.Environment) -> None:
    names = {package.split()[0] for package in found.packages}
    assert names == {"mpmath", "networkx", "numpy", "scipy", "sympy", "z3_solver"}
    assert not (found.site / "django").exists()
    assert found.site.is_relative_to(DEFAULT) or os.geteuid() == 0


@as_root
def test_everything_that_root_provides_is_readable_by_all_users(found: environment.Environment) -> None:
    for path in (found.interpreter, found.standard, found.site):
        assert path.stat().st_mode & stat.S_IROTH
        assert all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents)


def test_a_copy_is_readable_by_all_and_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_SHARED", tmp_path / "shared" / "sandbox")
    private = tmp_path / "private"
    (private / "package" / "test").mkdir(parents=True)
    (private / "package" / "open.py").write_text("a = 1\n")
    (private / "package" / "closed.py").write_text("b = 2\n")
    (private / "package" / "closed.py").chmod(0o600)
    (private / "package" / "libx.a").write_text("")
    (private / "package" / "link.py").symlink_to("open.py")
    (private / "package").chmod(0o700)
    if os.geteuid() != 0:
        with pytest.raises(OSError, match="does not belong to root"):
            environment._copied(private, environment._skip_extras)
        return
    copy = environment._copied(private, environment._skip_extras)
    assert sorted(path.name for path in copy.rglob("*")) == ["closed.py", "link.py", "open.py", "package"]
    assert all(path.stat().st_mode & stat.S_IROTH for path in copy.rglob("*"))
    assert (copy / "package" / "closed.py").read_text() == "b = 2\n"
    assert environment._copied(private, environment._skip_extras) == copy
    assert [path.name for path in (tmp_path / "shared" / "sandbox").iterdir()] == [copy.name]


@as_root
def test_a_folder_for_copies_must_belong_to_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    os.chown(planted, SANDBOX_UID, SANDBOX_UID)
    monkeypatch.setattr(environment, "_SHARED", planted / "sandbox")
    (tmp_path / "source").mkdir()
    with pytest.raises(OSError, match="does not belong to root"):
        environment._copied(tmp_path / "source", environment._skip_nothing)
