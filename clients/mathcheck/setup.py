"""Builds the package `mathcheck` from `apps/mathcheck`, its one source: only the name of the package changes in the copy."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[2]
SOURCE, CORPUS, DOCS = ROOT / "apps" / "mathcheck", ROOT / "tests" / "mathcheck" / "corpus", ROOT / "docs"
#: Modules for the application alone: its jobs, and the files that replace them here.
LEFT_OUT = ("__init__.py", "__main__.py", "serving.py", "survey.py")
MADE = {
    "__init__.py": '"""Checks the formulas of a proof without a model."""\n\n'
    "from mathcheck.library import Anchor, Certificate, Counterexample, Finding, check\n\n"
    '__all__ = ["Anchor", "Certificate", "Counterexample", "Finding", "check"]\n',
    "__main__.py": '"""`python -m mathcheck FILE`."""\n\nimport sys\n\n'
    "from mathcheck.library import main\n\nsys.exit(main())\n",
    "py.typed": "",
}


class Build(build_py):
    """Copies the sources, the corpus and the page on proofs."""

    def run(self) -> None:
        """Write the package."""
        package = Path(self.build_lib) / "mathcheck"
        sources = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).as_posix() not in LEFT_OUT]
        texts = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in sources}
        texts = {name: text.replace("apps.mathcheck", "mathcheck") for name, text in texts.items()} | MADE
        texts |= {f"corpus/{path.name}": path.read_text(encoding="utf-8") for path in CORPUS.glob("*.toml")}
        texts |= {f"docs/{path.name}": path.read_text(encoding="utf-8") for path in DOCS.glob("mathcheck*.md")}
        texts["LICENSE"] = (ROOT / "LICENSE").read_text(encoding="utf-8")
        for name, text in texts.items():
            target = package / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    setup(packages=["mathcheck"], package_dir={"mathcheck": "."}, cmdclass={"build_py": Build})
