"""Anchors in code points, limits on work, and the entry point for the sandbox."""

import json
import subprocess
import sys
from pathlib import Path

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED

ROOT = Path(__file__).resolve().parents[2]


def test_an_anchor_quotes_the_text_in_code_points() -> None:
    text = "Größe 𝔽😀: we have\n\\[\n1+1 &= 2 \\\\\n&= 3-2.\n\\]\nAnd $3+4\\equiv 1\\pmod{4}$."
    findings = check_text(text)
    assert [text[f.anchor.start : f.anchor.end] for f in findings] == [f.anchor.quote for f in findings]
    assert [f.anchor.quote for f in findings if f.outcome == REFUTED] == ["2 \\\\\n&= 3-2", "3+4\\equiv 1\\pmod{4}"]


def test_every_finding_has_a_reason_a_number_of_tests_or_a_counterexample() -> None:
    for finding in check_text(r"We have $1+1=2$, $2+2=5$, $\angle A=1+1$ and $(x+y)^2=x^2+y^2$."):
        assert (finding.reason != "") is (finding.outcome == NOT_UNDERSTOOD)
        assert (finding.counterexample is not None) is (finding.outcome == REFUTED)
        assert (finding.tests > 0) is (finding.outcome in (PROVED, SURVIVED, REFUTED))


def test_code_is_not_read() -> None:
    assert check_text("```\nWe have $1+1=3$.\n```\n") == []


def test_huge_formulas_end_within_the_limits_on_work() -> None:
    towers = " ".join(rf"We have $9^{{9^{{9^{{{k}}}}}}}+(a+b)^{{{k + 90}}}=(a-b)^{{97}}\cdot {k}!$." for k in range(2, 5))
    assert {finding.outcome for finding in check_text(towers)} == {NOT_UNDERSTOOD}


def test_the_module_answers_a_job_in_json() -> None:
    job = {"texts": [{"id": "s1", "text": "Then $n^2\\ge 2$."}], "assumptions": ["n is a positive integer"], "time_s": 2}
    done = subprocess.run(
        [sys.executable, "-m", "apps.mathcheck"],
        input=json.dumps(job),
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=True,
    )
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["text_id"], finding["outcome"]) == ("s1", REFUTED)
    assert finding["anchor"] == {"start": 6, "end": 14, "quote": "n^2\\ge 2"}
    assert finding["counterexample"] == {"values": {"n": "1"}, "left": "1", "right": "2"}


def test_a_job_of_another_format_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "apps.mathcheck"],
        input='{"text": 1}',
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2
    assert "shape" in done.stderr


def test_the_verifier_needs_neither_django_nor_the_application() -> None:
    code = "import sys, apps.mathcheck.checking; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT, check=True)
    loaded = done.stdout.split()
    assert {name.split(".")[0] for name in loaded} & {"django", "celery", "pydantic"} == set()
    assert {name.split(".")[1] for name in loaded if name.startswith("apps.")} == {"mathcheck"}


def test_words_about_a_number_say_what_is_there_instead() -> None:
    texts = ("The number of divisors of $n$ is $4$.", "The number of divisors of $12>3$ is $6$.")
    reasons = [check_text(text)[0].reason for text in texts]
    assert reasons == ["a name where a number is expected", "a relation where one number is expected"]
