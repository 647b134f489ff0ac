"""Real outputs of other models in `SHARED_DATA`: what our readers make of them, next to what is to be read.

* Judge outputs (NVIDIA NeMo-Gym): grades, judgements and points, which the files themselves state.
* DeepSeekMath-V2: proofs, to be read from the first word to the last.
* Logs of IMO 2025 (Huang and Yang): solutions, to be read from "Detailed Solution" to the end, and reports of verifiers. Which
  reports pass was decided by hand (`_PASSES`). A report that names a gap or a critical error is a fail, as in our programs,
  even where the pipeline of the log continued with a yes.
* QED-Nano: comments of human markers. They have no closing, so nothing is to be read.
* Two exported runs of Qwen2.5-Coder-1.5B, labelled by hand.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from apps.reasoning.domain.generation import Final, Usage
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import plain
from apps.reasoning.reading.choices import read_better, read_decision, read_score
from apps.reasoning.reading.closings import Closing, Said
from apps.reasoning.reading.proofs import ReadProof, read_claim, read_proof
from apps.reasoning.reading.said_values import number
from apps.reasoning.reading.summaries import Summary, read_summary
from apps.reasoning.reading.votes import read_lemma_vote
from benchmarks.reading.labels import Extent, Right
from benchmarks.reading.measured import Measured

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / os.environ.get("SHARED_DATA", "../shared/data")
POINTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
_GRADES = ("correct", "almost", "partial", "incorrect")
_HEADING = re.compile(r"\A[\s#*]*(?:solution|proof)[.:]?\s*\*\*", re.IGNORECASE)
_DETAILED = re.compile(r"\bDetailed Solution\b[ \t#*:.]*\n", re.IGNORECASE)
#: The reports of each log that find neither a gap nor an error, by number.
_PASSES = {
    "solution_01_agent_08.log": {5, 6, 7, 8},
    "solution_03_agent_07.log": {8, 9, 12, 13, 14, 15, 16},
    "solution_p1_grok4.log": {8, 14, 15, 17, 18},
    "solution_p4_gpt5.log": {14, 15, 16, 18},
}
_FAILS = Right(value={"passed": False})
_RUNS: dict[str, dict[str, Right]] = {
    "self_check_qwen15_sum-of-odd.jsonl": {
        "solve": Right(text=Extent(begins="Let $n$ be a positive integer.", ends=r"\[1+3+5+\dots+(2n-1)=n^2\]")),
        "improve": Right(nothing="it repeats the prompt"),
        **dict.fromkeys(("check/1", "check/5", "check/6"), _FAILS),
        **dict.fromkeys(("check/2", "check/3", "check/4"), Right(nothing="it repeats the prompt")),
    },
    "intern_s1_mo_qwen15_divisible-by-six.jsonl": {
        "s0/r1/reason": Right(value={"claim": "complete"}),
        "s0/r1/summarise": Right(value={"lemmas": []}),
        "s0/r2/reason": Right(nothing="it breaks off before its claim"),
        "s0/r2/summarise": Right(nothing="it repeats the work and lists no lemma"),
    },
}


def shared_measured(folder: Path = FOLDER) -> list[Measured]:
    """What became of every output of the families that `folder` has."""
    families: dict[str, Callable[[Path], Iterator[Measured]]] = {
        "judge-outputs": _judges,
        "deepseek-math-v2": _proofs,
        "imo25-logs": _logs,
        "qed-nano": _comments,
        "real-answers": _runs,
    }
    return [one for name, read in families.items() if (folder / name).is_dir() for one in read(folder / name)]


def _judges(folder: Path) -> Iterator[Measured]:
    for row in _rows(folder / "imo_gradingbench" / "example_rollouts.jsonl"):
        yield _closing("judges: grade", row["grading_id"], _said(row), _GRADE, row["extracted_grade"])
    for row in _rows(folder / "math_proof_judgement" / "example_rollouts.jsonl"):
        yield _closing("judges: judgement", row["problem_id"], _said(row), _JUDGEMENT, row["extracted_judgement"])
    for row in _rows(folder / "imo_proofbench_judge" / "example_rollouts.jsonl"):
        points = row["judge_points"]
        yield _closing(
            "judges: points", row["problem_id"], row["judge_output"], _POINTS, None if points is None else float(points)
        )


def _proofs(folder: Path) -> Iterator[Measured]:
    for path in sorted(folder.glob("*.jsonl")):
        for row in _rows(path):
            text = row["model_prediction"]["proof"]
            yield _whole("DeepSeekMath-V2: proofs", row["problem_idx"], text, text)


def _logs(folder: Path) -> Iterator[Measured]:
    from apps.explorations.importing import solver_logs
    from apps.explorations.importing.imported_run import LogFile
    from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateJudged

    for path in sorted(folder.glob("*.log")):
        events = [one.event for one in solver_logs.read(LogFile(path.name, path.read_bytes())).events]
        for drafted in (one for one in events if isinstance(one, CandidateDrafted)):
            below = _DETAILED.split(drafted.text, maxsplit=1)[-1]
            yield _whole("IMO 2025: solutions", f"{path.name} {drafted.candidate}", drafted.text, below)
        for at, judged in enumerate((one for one in events if isinstance(one, CandidateJudged)), 1):
            right = Right(value={"passed": at in _PASSES[path.name]})
            yield _measured("IMO 2025: reports", f"{path.name} {at}", right, _decided(_final(judged.summary)))


def _comments(folder: Path) -> Iterator[Measured]:
    for at, row in enumerate(_rows(folder / "human_eval.jsonl"), 1):
        final = _final(row["comment"])
        found = (read_decision(final), read_score(final, POINTS), read_better(final), read_lemma_vote(final, 9).unscored)
        read = next((one for one in found if not isinstance(one, Unscored)), None)
        right = Right(nothing="a comment has no closing")
        yield _measured("QED-Nano: comments", f"{row['section']} {at}", right, {"read": str(read)} if read else "nothing")


def _runs(folder: Path) -> Iterator[Measured]:
    for name, rights in _RUNS.items():
        calls = (row for row in _rows(folder / name) if row["type"] == "call")
        for row in calls:
            final = _final(row["text"], row["finish_reason"])
            read = _READERS[row["role"]](final, row["prompt_text"])
            yield _measured("Qwen2.5-Coder-1.5B: two runs", f"{name} {row['key']}", rights[row["key"]], read)


def _judgement(written: str) -> str | None:
    found = re.fullmatch(r"judgement:\s*(yes|no)", plain(written), re.IGNORECASE)
    return found[1].capitalize() if found else None


def _grade(written: str) -> str | None:
    return plain(written).lower() if plain(written).lower() in _GRADES else None


_GRADE: Closing[Any] = Closing("grade", "grade", _grade, bare=_grade)
_JUDGEMENT: Closing[Any] = Closing("judgement", "judgement", _judgement)
_POINTS: Closing[Any] = Closing("points", "points", lambda written: number(written, of=POINTS[-1]))


def _closing(source: str, name: str, text: str, closing: Closing[Any], right: object) -> Measured:
    """An answer by the closing that it was asked for; None: it has none."""
    found = closing.read(text)
    expected = Right(nothing="the judge never decided") if right is None else Right(value={"said": right})
    return _measured(source, name, expected, {"said": found.value} if isinstance(found, Said) else found.reason)


def _whole(source: str, name: str, text: str, own: str) -> Measured:
    """A solution of which `own` must be read with every word."""
    found = read_proof(_final(text))
    if not isinstance(found, ReadProof):
        return Measured(source, name, "unread", found.reason, is_lost=True)
    is_whole = _words(_HEADING.sub("", own)) in _words(found.text)
    return Measured(source, name, "equal" if is_whole else "wrong", found.text[:80], is_lost=not is_whole)


def _measured(source: str, name: str, right: Right, read: dict[str, Any] | str) -> Measured:
    value = read if isinstance(read, dict) else None
    return Measured(source, name, right.verdict(value), str(read))


def _decided(final: Final, _: str = "") -> dict[str, Any] | str:
    found = read_decision(final)
    return found.reason if isinstance(found, Unscored) else {"passed": found.passed}


def _solved(final: Final, prompt: str) -> dict[str, Any] | str:
    found = read_proof(final, prompt)
    return {"text": found.text} if isinstance(found, ReadProof) else found.reason


def _claimed(final: Final, _: str) -> dict[str, Any] | str:
    found = read_claim(final)
    return found.reason if isinstance(found, Unscored) else {"claim": found}


def _summed(final: Final, _: str) -> dict[str, Any] | str:
    found = read_summary(final)
    return {"lemmas": [one.statement for one in found.lemmas]} if isinstance(found, Summary) else found.reason


_READERS: dict[str, Callable[[Final, str], dict[str, Any] | str]] = {
    "solver": _solved,
    "improver": _solved,
    "verifier": _decided,
    "reasoner": _claimed,
    "summarizer": _summed,
}


def _words(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def _final(text: str, finish: str = "stop") -> Final:
    return Final(text=text, finish_reason="length" if finish == "length" else "stop", usage=Usage())


def _said(row: dict[str, Any]) -> str:
    return "".join(part["text"] for item in row["response"]["output"] if item["type"] == "message" for part in item["content"])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
