"""`python -m benchmarks.readings ALIAS --models FILE`: formal readings by a model of claims that our check does not understand.

The claims are the marked ones of a corpus (`tests/mathcheck/seen`), true and false ones in turn. The engine runs in this
process, without a stack. Prints counts; --answers keeps every reading as a JSON line, to be judged by eye.
"""

import argparse
import asyncio
import json
import os
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import django

from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.formal import DOMAINS, Formal
from apps.mathcheck.formal_context import formal_at
from apps.reasoning.domain.tools import MathFinding
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.reasoning.inference.local import LocalDispatcher
from benchmarks.startup import ROOT

CORPUS = ROOT / "tests" / "mathcheck" / "seen"
SIDES = ((True, "true"), (False, "false"))
Claim = tuple[bool, str, MathFinding]


def claims(folder: Path) -> Iterator[Claim]:
    """The marked claims that are not understood, true and false in turn: truth, text, finding."""
    warm()
    corpora = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))]
    sides = [_unread(truth, [one for corpus in corpora for one in corpus[side]]) for truth, side in SIDES]
    yield from filter(None, chain.from_iterable(zip_longest(*sides)))


def _unread(truth: bool, texts: list[str]) -> Iterator[Claim]:
    for marked in texts:
        start, end, text = marked.index("«"), marked.index("»") - 1, marked.replace("«", "").replace("»", "")
        inside = [one for one in check_text(text, (), "text") if one.anchor.start < end and one.anchor.end > start]
        unread = [one for one in inside if one.outcome == "not_understood"]
        if unread:
            yield truth, text, MathFinding.model_validate(unread[0].as_json())


async def read(alias: Alias, claim: Claim, dispatcher: LocalDispatcher) -> dict[str, Any]:
    """What came of one claim, with the outcome of its reading."""
    from functools import partial

    from apps.lemmas.readings.work import READING_TOKENS, claimed_of
    from apps.reasoning.formal.asking import FormalModel
    from apps.reasoning.formal.readings import read_claim

    truth, text, found = claim
    model = FormalModel(dispatcher, "readings", alias.name, READING_TOKENS, closing=alias.closes_by)
    model.context_tokens = alias.context_tokens
    place = ("text", found.anchor.start, found.anchor.end)
    strictly = partial(formal_at, parts=[("text", text)], context="", place=place)
    began = time.monotonic()
    said = await read_claim(model, "0", claimed_of([("text", text)], "", found), list(DOMAINS), strictly)
    seconds = round(time.monotonic() - began)
    outcome = _outcome(said.reading) if said.reading is not None else ""
    sentence = said.reading.sentence if said.reading is not None else ""
    answers = [record.final.text for record in model.journal.records if record.final]
    return {
        "true": truth, "text": text, "formula": found.anchor.quote, "sentence": sentence, "verdict": said.verdict or "",
        "reason": said.reason, "outcome": outcome, "answers": answers, "seconds": seconds,
    }  # fmt: skip


def _outcome(formal: Formal) -> str:
    found = [one for one in check_text(formal.sentence) if one.anchor.start == formal.claim_start]
    return found[0].outcome if found else "no result"


def report(rows: list[dict[str, Any]]) -> str:
    """The counts as lines."""
    read_ones = [row for row in rows if row["sentence"]]
    counted = [row for row in read_ones if row["verdict"] == "same"]
    verdicts = Counter(row["verdict"] or "unread" for row in read_ones)
    lines = [f"claims {len(rows)} · read {len(read_ones)} · same {len(counted)}"]
    lines += [f"comparison: {', '.join(f'{word} {count}' for word, count in sorted(verdicts.items()))}"]
    for truth, side in SIDES:
        outcomes = Counter(row["outcome"] for row in counted if row["true"] is truth)
        words = ", ".join(f"{word} {count}" for word, count in sorted(outcomes.items()))
        lines.append(f"readings of {side} claims that count: {words or 'none'}")
    return "\n".join(lines)


def read_arguments() -> argparse.Namespace:
    """The arguments; ends with a message if the models file has no such model."""
    parser = argparse.ArgumentParser("python -m benchmarks.readings", description=__doc__)
    parser.add_argument("alias", help="a model of the models file")
    parser.add_argument("--models", type=Path, default=ROOT / "apps" / "config" / "models.toml")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--most", type=int, default=20, help="number of claims")
    parser.add_argument("--answers", type=Path, help="file to write every reading to, as JSON lines")
    given = parser.parse_args()
    usable = load_usable(given.models)
    if given.alias not in usable:
        parser.error(f"{given.models} has no usable model {given.alias}; it has {', '.join(usable) or 'none'}")
    return given


async def measured(given: argparse.Namespace) -> list[dict[str, Any]]:
    """All readings, one after another."""
    from workers.backends import backend_for

    alias = load_usable(given.models)[given.alias]
    backend, rows = backend_for(alias), list[dict[str, Any]]()
    try:
        for claim in islice(claims(given.corpus), given.most):
            rows.append(await read(alias, claim, LocalDispatcher({alias.name: backend})))
            if given.answers is not None:
                given.answers.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    finally:
        await backend.close()
    return rows


def main() -> None:
    """Load the model, ask it for readings, and print the counts."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    django.setup()
    print(report(asyncio.run(measured(read_arguments()))))


if __name__ == "__main__":
    main()
