"""Builds the package with a copy of the core, `apps/reasoning`, under the name `lemmascope_verifiers.core`."""

import runpy
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
ROOT, OWN, CORE = HERE.parents[1], HERE / "lemmascope_verifiers", HERE.parents[1] / "apps" / "reasoning"
KINDS = (".py", ".md", ".toml", ".jsonl")


class Build(build_py):
    """Copies our modules and the core. In the copy only the name of the core changes."""

    def run(self) -> None:
        """Write the package."""
        if not CORE.is_dir():
            raise SystemExit(
                f"{CORE} is missing. Build this package in a checkout of Lemmascope: pip install ./clients/verifiers"
            )
        package = Path(self.build_lib) / "lemmascope_verifiers"
        shutil.rmtree(package, ignore_errors=True)  # A checkout keeps what an earlier build wrote.
        for source, folder in ((OWN, package), (CORE, package / "core")):
            for path in (one for one in source.rglob("*") if one.suffix in KINDS):
                text = path.read_text(encoding="utf-8").replace("apps.reasoning", "lemmascope_verifiers.core")
                self._write(folder / path.relative_to(source), text)
        version = runpy.run_path(str(CORE / "version.py"))["VERSION"]
        self._write(package / "core" / "version.py", f'"""The version of the copied code."""\n\nVERSION = "{version}"\n')
        self._write(package / "LICENSE", (ROOT / "LICENSE").read_text(encoding="utf-8"))
        self._write(package / "verifiers.md", (ROOT / "docs" / "verifiers.md").read_text(encoding="utf-8"))
        self._write(package / "py.typed", "")

    def _write(self, target: Path, text: str) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    setup(packages=["lemmascope_verifiers"], cmdclass={"build_py": Build})
