"""The repository's English, measured: words that docs/english.md replaces, and the length of sentences in the documents.

`python -m tests.architecture.prose [PATH …]` lists every such word below the paths, and the mean sentence of each document.
`prose.toml` has the words and the exceptions: folders, files, or passages that are ignored wherever they occur.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_TABLE = tomllib.loads(Path(__file__).with_name("prose.toml").read_text(encoding="utf-8"))
WORDS: dict[str, str] = _TABLE["words"]
ALLOWED: list[dict[str, str]] = _TABLE["allowed"]
#: Files that are about the words themselves.
GUIDES: list[str] = _TABLE["guides"]
#: Words a sentence, on average over a page.
LONGEST_MEAN = 16
#: Files with prose of ours: text of models and of problems is theirs.
_WRITTEN = {
    *(".py", ".html", ".js", ".mjs", ".css", ".md", ".txt", ".toml", ".yml", ".sh", ".conf", ".ini"),
    *(".in", ".excluded", ".example", ".typ", ""),
}
_NOT_OURS = re.compile(
    r"^(static/vendor|package-lock|requirements|docker/requirements|docs/benchmarks\.|apps/problems/sample_library|"
    r"apps/[a-z_]+/[a-z_]*samples?/|apps/explorations/worked_example/|tests/[a-z_/]*data/|LICENSE)"
)
#: Humps separate words in identifiers, as underscores do.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[\s_-]+")
#: Words of the longest phrase, and what begins a line of a comment or a list.
_LONGEST = 3
_MARGIN = re.compile(r"^\s*(?:#:?|//|\*|[-*]|\d+\.|>)?\s*")
_FOUND = re.compile(rf"(?<![a-z])(?:{'|'.join(re.escape(word) for word in WORDS)})(?![a-z])", re.IGNORECASE)
_NOT_PROSE = re.compile(r"^(?:\s*```.*?^\s*```|\|[^\n]*|#[^\n]*|\s*<[^\n]*>\s*$)", re.DOTALL | re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?:])[\"')*_`]*\s+(?=[\"'(*_`\[]*[A-Z0-9])|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s")
_WORD = re.compile(r"[A-Za-z][\w'’/.-]*|\d[\d.,]*|`[^`]*`|\$[^$]*\$")


class Found(NamedTuple):
    """A word that is to be replaced, at a line of a file."""

    path: str
    line: int
    word: str
    text: str


def words_found(paths: Sequence[str] = ()) -> list[Found]:
    """Every such word in tracked files below `paths` (all without one), also where it is allowed."""
    found = []
    for path in _files(paths):
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        for number, (line, following) in enumerate(zip(lines, [*lines, ""][1:], strict=True), 1):
            found += [Found(path, number, word, line) for word in words_in(line)]
            found += [Found(path, number, word, f"{line} {following.strip()}") for word in words_across(line, following)]
    return found


def words_across(line: str, following: str) -> list[str]:
    """The words that begin at the end of a line and end at the start of the next."""
    end, start = " ".join(line.split()[-_LONGEST:]), " ".join(_MARGIN.sub("", following).split()[:_LONGEST])
    return [word for word in words_in(f"{end} {start}") if word not in words_in(end) + words_in(start)]


def allows(exception: Mapping[str, str], found: Found) -> bool:
    """Whether an exception covers a word: by the path of its file, or by a passage of its line that has the word."""
    if "path" in exception:
        return f"{found.path}/".startswith(f"{exception['path']}/")
    return exception["text"] in found.text and found.word in words_in(exception["text"])


def is_allowed(found: Found) -> bool:
    """Whether some exception covers the word."""
    return any(allows(exception, found) for exception in ALLOWED)


def words_in(line: str) -> list[str]:
    """The words of one line that are to be replaced, also as parts of identifiers."""
    plain = _GAP.sub(" ", _HUMP.sub(" ", line))
    return [match[0].lower() for match in _FOUND.finditer(plain)]


def mean_sentence(text: str) -> float:
    """Words a sentence of a Markdown text, without its headings, tables and code; 0 where it has no sentence."""
    sentences = [len(_WORD.findall(one)) for one in _SENTENCE_END.split(_NOT_PROSE.sub("\n\n", text))]
    counted = [length for length in sentences if length]
    return sum(counted) / len(counted) if counted else 0.0


def documents() -> Iterator[str]:
    """The documents that people write, as paths from the root; commands write benchmarks*.md and models_tried.md."""
    generated = re.compile(r"docs/(benchmarks(_\w+)?|models_tried)\.md")
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for path in listed.stdout.split():
        if re.match(r"(README|CONTRIBUTING|CHANGELOG)\.md$|docs/", path) and not generated.fullmatch(path):
            yield path


def _files(paths: Sequence[str]) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True)
    return [
        path
        for path in listed.stdout.splitlines()
        if Path(path).suffix in _WRITTEN and not _NOT_OURS.search(path) and path not in GUIDES and (ROOT / path).is_file()
    ]


def main() -> None:
    """List the words and the mean sentences below the paths that are given."""
    paths = sys.argv[1:]
    found = [one for one in words_found(paths) if not is_allowed(one)]
    lines = [f"{one.path}:{one.line}: {one.word} -> {WORDS[one.word]}" for one in found]
    read = [path for path in documents() if not paths or any(path.startswith(given) for given in paths)]
    lines += [f"{path}: {mean_sentence((ROOT / path).read_text(encoding='utf-8')):.1f} words a sentence" for path in read]
    sys.stdout.write("\n".join([*lines, f"{len(found)} words"]) + "\n")


if __name__ == "__main__":
    main()
