"""`python -m apps.mathcheck < job.json`: {"texts": [{"id", "text"}], "assumptions": []} → {"findings": []}.

"time_s" is the last guard on each text, in seconds of processor time; it reports claims that it ends as stopped. With "context"
(a text) there are no assumptions: the texts of one "group" are parts of one text (parts.py) under that context, and their
findings name the group. For a malformed job the exit code is 2, with one line on stderr. `--serve` answers many jobs
(serving.py).
"""

import json
import sys
from typing import Any

from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.parts import Part, check_groups
from apps.mathcheck.serving import serve
from apps.mathcheck.testing.alarm import PER_TEXT_S


def findings_of(job: dict[str, Any]) -> dict[str, Any]:
    """The answer to a job. Raises KeyError, TypeError or ValueError if the job is malformed."""
    assumptions = [str(item) for item in job.get("assumptions", [])]
    seconds = float(job.get("time_s", PER_TEXT_S))
    if job.get("context") is not None:
        return {"findings": _in_groups(job["texts"], str(job["context"]), seconds)}
    found = []
    for item in job["texts"]:
        found += check_text(str(item["text"]), assumptions, str(item["id"]), seconds)
    return {"findings": [finding.as_json() for finding in found]}


def _in_groups(texts: list[dict[str, Any]], context: str, seconds: float) -> list[dict[str, Any]]:
    groups: dict[str, list[Part]] = {}
    for item in texts:
        groups.setdefault(str(item.get("group", "")), []).append((str(item["id"]), str(item["text"])))
    found = check_groups(groups, context, seconds)
    return [{**finding.as_json(), "group": group} for group, findings in found.items() for finding in findings]


def main() -> int:
    """Read the job, write the answer."""
    if sys.argv[1:2] == ["--serve"]:
        serve(findings_of, int(sys.argv[2]), int(sys.argv[3]))
        return 0
    warm()
    try:
        answer = findings_of(json.load(sys.stdin))
    except (KeyError, TypeError, ValueError) as error:
        sys.stderr.write(f"The job is malformed; see docs/tools.md for its shape: {error!r}\n")
        return 2
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
