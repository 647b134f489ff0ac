"""Groups files into runs and selects the reader of each group."""

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from apps.explorations.importing import proof_graphs, proof_ledgers, solver_logs
from apps.explorations.importing.imported_run import ImportedRun, LogFile, LogWrong

_KNOWN = Path(__file__).with_name("known_files.toml")
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Facts:
    """Facts that a file does not contain. Empty: unknown."""

    problem: str = ""
    topic: str = ""
    of: str = ""
    source: str = ""
    licence: str = ""


@dataclass(frozen=True)
class Batch:
    """The files of one run: one file, or a ledger with one file per event."""

    files: tuple[LogFile, ...]
    format: str

    @property
    def name(self) -> str:
        """Name of the first file, with the number of further files."""
        first = self.files[0].name
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    @property
    def sha256(self) -> str:
        """Hash of all bytes, in the order of the files."""
        whole = hashlib.sha256()
        for file in self.files:
            whole.update(file.data)
        return whole.hexdigest()

    @property
    def facts(self) -> Facts:
        """Known facts about these bytes."""
        return _known().get(self.sha256, Facts())

    def read(self) -> ImportedRun:
        """Read the files. Raises `LogWrong`."""
        if sum(len(file.data) for file in self.files) > MOST_BYTES:
            raise LogWrong(f"{self.name} was not imported: it is larger than {MOST_BYTES // 2**20} MB.")
        try:
            return self._read()
        except LogWrong:
            raise
        except (TypeError, ValueError, RecursionError) as error:
            raise LogWrong(f"{self.name} was not imported: it has invalid values for a {self.format}.") from error

    def _read(self) -> ImportedRun:
        if self.format == proof_ledgers.FORMAT:
            return proof_ledgers.read(list(self.files))
        read = solver_logs.read if self.format == solver_logs.FORMAT else proof_graphs.read
        return read(self.files[0])


def batches(files: Sequence[LogFile]) -> tuple[list[Batch], list[str]]:
    """Group files into batches. Also returns the names of files in unknown formats.

    Files with one ledger event each are one ledger, in the order of their names.
    """
    found: list[Batch] = []
    ledger: list[LogFile] = []
    unknown: list[str] = []
    for file in sorted(files, key=lambda one: one.name):
        if proof_ledgers.recognises(file):
            ledger.append(file)
        elif solver_logs.recognises(file):
            found.append(Batch((file,), solver_logs.FORMAT))
        elif proof_graphs.recognises(file):
            found.append(Batch((file,), proof_graphs.FORMAT))
        else:
            unknown.append(file.name)
    if ledger:
        whole = [file for file in ledger if '"proof_initialized"' in file.text]
        together = [tuple(ledger)] if len(whole) <= 1 else [(file,) for file in ledger]
        found += [Batch(part, proof_ledgers.FORMAT) for part in together]
    return found, unknown


@cache
def _known() -> dict[str, Facts]:
    return {sha: Facts(**facts) for sha, facts in tomllib.loads(_KNOWN.read_text(encoding="utf-8")).items()}
