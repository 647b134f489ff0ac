"""`python -m workers.mathcheck < job.json`: {"texts": [{"id", "text"}], "assumptions": [], "time_s": 2} → {"findings": []}.

`time_s` is the limit for each text. With "context", a text, the texts are the parts of one (parts.py) under that context,
and there are no assumptions. Exit code 2 and one line on stderr when the job is not of that shape.
"""

import json
import sys
from typing import Any

from workers.mathcheck.checking import check_text, warm
from workers.mathcheck.parts import check_parts


def findings_of(job: dict[str, Any]) -> dict[str, Any]:
    """The answer to a job; raises KeyError, TypeError or ValueError when it is not of the shape."""
    assumptions = [str(item) for item in job.get("assumptions", [])]
    seconds = float(job.get("time_s", 2))
    texts = [(str(item["id"]), str(item["text"])) for item in job["texts"]]
    found = []
    if job.get("context") is not None:
        return {"findings": [finding.as_json() for finding in check_parts(texts, str(job["context"]), seconds)]}
    for name, text in texts:
        found += check_text(text, assumptions, name, seconds)
    return {"findings": [finding.as_json() for finding in found]}


def main() -> int:
    """Read the job, write the answer."""
    warm()
    try:
        answer = findings_of(json.load(sys.stdin))
    except (KeyError, TypeError, ValueError) as error:
        sys.stderr.write(f"The job is not of the shape that is described: {error!r}\n")
        return 2
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
