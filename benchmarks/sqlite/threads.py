"""Whether threads that open and close connections to one SQLite file lose committed rows (docs/adr/0034).

`python -m benchmarks.sqlite.threads [SECONDS]` prints what two processes of three threads each lost without and with an anchor.
"""

import json
import multiprocessing
import random
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

THREADS, PROCESSES = 3, 2


def race(seconds: float, *, anchored: bool) -> list[str]:
    """What was lost: an error each, then the number of committed rows that are not in the file. Empty if nothing was."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "race.sqlite3"
        with closing(_connected(file)) as database:
            database.execute("CREATE TABLE rows (number integer)")
        context = multiprocessing.get_context("spawn")
        reports = [Path(folder) / f"{number}.json" for number in range(PROCESSES)]
        processes = [context.Process(target=_process, args=(file, seconds, anchored, path)) for path in reports]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        results = [json.loads(path.read_text()) for path in reports]
        with closing(_connected(file)) as database:
            (there,) = database.execute("SELECT count(*) FROM rows").fetchone()
    missing = sum(result["committed"] for result in results) - there
    lost = [error for result in results for error in result["errors"]]
    return [*lost, f"{missing} committed rows are missing"] if missing else lost


def _process(file: Path, seconds: float, anchored: bool, result: Path) -> None:
    anchor = _connected(file) if anchored else None
    errors: list[str] = []
    committed = [0] * THREADS
    until = time.monotonic() + seconds

    def work(thread: int) -> None:
        while time.monotonic() < until:
            try:
                with closing(_connected(file)) as database:
                    for _ in range(3):
                        database.execute("INSERT INTO rows VALUES (1)")
                        committed[thread] += 1
            except sqlite3.Error as error:
                errors.append(str(error))
                time.sleep(0.2)
            time.sleep(random.random() * 0.002)  # So that sometimes no connection is open.

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if anchor:
        anchor.close()
    result.write_text(json.dumps({"committed": sum(committed), "errors": errors}))


def _connected(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=20, isolation_level=None)
    database.executescript(
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA mmap_size=134217728;"
    )  # As in the settings.
    return database


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    for anchored in (False, True):
        lost = race(seconds, anchored=anchored)
        print(f"{'with' if anchored else 'without'} an anchor: {len(lost)} losses", *sorted(set(lost)), sep="\n  ")


if __name__ == "__main__":
    main()
