"""`python -m apps.mathcheck.kernel < job.json`: asks a proof assistant about formulas of a text.

The job: {"tool": "coq" or "lean", "program": its path or "", "parts": [[id, text], …], "context": "", "assumptions": [],
"places": [{"text_id", "start", "end"}, …]}. Without "places", all claims are asked. The answer: {"results": [{"place", "quote",
…KernelResult}, …]}.
"""

import json
import sys
from typing import Any

from apps.mathcheck.kernel.checker import KernelChecker
from apps.mathcheck.kernel.coq_checker import CoqChecker
from apps.mathcheck.kernel.lean import LeanChecker
from apps.mathcheck.kernel.reading import Place, check_place, claims_of

CHECKERS: dict[str, type[CoqChecker] | type[LeanChecker]] = {"coq": CoqChecker, "lean": LeanChecker}


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """The answer to a job. Raises KeyError, TypeError or ValueError if it is malformed."""
    checker: KernelChecker = CHECKERS[str(job.get("tool", "coq"))](str(job.get("program", "")))
    parts = [(str(name), str(text)) for name, text in job["parts"]]
    claims = claims_of(parts, str(job.get("context", "")), [str(one) for one in job.get("assumptions", [])])
    wanted = job.get("places")
    places = [one.place for one in claims] if wanted is None else [Place(**one) for one in wanted]
    texts = dict(parts)
    results = []
    for place in places:
        shown = {"text_id": place.text_id, "start": place.start, "end": place.end}
        quote = texts[place.text_id][place.start : place.end]
        results.append({"place": shown, "quote": quote, **check_place(place, claims, checker).as_json()})
    return {"results": results}


def main() -> int:
    """Read the job, write the answer."""
    try:
        found = answer(json.load(sys.stdin))
    except (KeyError, TypeError, ValueError) as error:
        sys.stderr.write(f"The job is malformed: {error!r}\n")
        return 2
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
