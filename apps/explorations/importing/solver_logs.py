"""Logs of the solver–verifier–corrector pipeline of Huang and Yang (MIT, lyang36/IMO25) as runs of Self-Check.

A log has a first solution, an improved one, then verifications, each with a yes or no, and corrections. Counters and repeated
reports are left out; unknown, invalid or truncated sections are reported.
"""

import re
from collections.abc import Callable

from apps.explorations.importing.imported_run import ImportedRun, LogFile, LogWrong, paragraphs
from apps.explorations.importing.log_payloads import Request, answer_of, model_word, request_of
from apps.explorations.importing.log_sections import CutOff, Section, sections
from apps.explorations.importing.recorded_calls import Calls
from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateJudged, CandidateKind
from apps.reasoning.domain.events import ProofDrafted, ProofSelected
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.verdicts import Streaks

FORMAT = "solver–verifier log"
ROLES = ("solver", "improver", "verifier", "decider", "corrector")
_MARK = re.compile(r"\*\*\*\s*Problem Statement\s*\*\*\*\s*", re.IGNORECASE)
_RUN = re.compile(r"run (\d+) of \d+")
_ERROR = re.compile(r"error in run \d+: ?(.*)", re.DOTALL)
_FIRST_WORD = re.compile(r"[a-z]+")
#: Sections by which an attempt gives up.
_GIVEN_UP = re.compile(r"failed in finding a (?:correct|complete) solution|solution is not complete\b.*")
#: Sections that repeat others or only count.
_SILENT = {
    "start verification", "vefify the solution", "verify the solution", "initial verification", "correct solution found",
    "solution is good, verifying again", "verification does not pass, correcting", "bug report",
}  # fmt: skip
PROOF = "proof/1"


def recognises(file: LogFile) -> bool:
    """Whether the file looks like such a log."""
    head = file.text[:200_000]
    return bool(re.search(r"^(?:\[[^\]\n]*\] )?>{5,}\s*(Initial prompt|Run \d+ of \d+)", head, re.MULTILINE))


def read(file: LogFile) -> ImportedRun:
    """The run of the log. Raises `LogWrong` without a problem statement."""
    return _Reader().read(file)


class _Reader:
    """A fold over the sections of one log."""

    def __init__(self) -> None:
        self.imported = ImportedRun(format=FORMAT, scaffold="self_check", statement="", roles={})
        self.calls = Calls(self.imported)
        self.current = ""
        self.rounds = self.checks = self.corrections = self.asked = 0
        self.streaks = Streaks()
        self.passed: dict[str, int] = {}
        self.texts: dict[str, tuple[str, ...]] = {}
        self.report = ""
        self.accepted = ""
        self.accepted_after = 0
        self.stopped = ""
        self.model = ""
        self.handlers: dict[str, Callable[[Section], None]] = {
            "initial prompt": self._first_prompt,
            "response": self._response,
            "first solution": self._first_solution,
            "self improvement start": self._improving,
            "corrected solution": self._corrected,
            "verification prompt": self._check_prompt,
            "verification results": self._check_results,
            "is verification good?": self._decided,
            "check if solution is complete": self._complete,
            "new prompt": self._correct_prompt,
        }

    def read(self, file: LogFile) -> ImportedRun:
        last = 0
        for section in sections(file.text):
            last = section.line
            self.calls.see(section.at)
            try:
                self._section(section)
            except CutOff:
                self.imported.unread(f"line {section.line}", f"“{section.title}” is truncated and was not imported", section.at)
        if not self.imported.statement:
            raise LogWrong(f"{file.name} was not imported: it has no prompt that begins with *** Problem Statement ***.")
        self._end(last)
        self.imported.roles = {role: model_word(self.model) for role in ROLES}
        return self.imported

    def _section(self, section: Section) -> None:
        title = section.title
        if handler := self.handlers.get(title):
            handler(section)
        elif error := _ERROR.match(title):
            self.calls.fail(error[1] or "an unnamed error")
        elif run := _RUN.match(title):
            self._new_run(int(run[1]))
        elif _GIVEN_UP.fullmatch(title):
            self.stopped = f"The log gives up: “{title}”."
        elif title.startswith("found a correct solution"):
            self.accepted, self.accepted_after = self.current or self.accepted, self.streaks.passes or self.accepted_after
        elif title not in _SILENT and not title.startswith("verify results"):
            self.imported.unread(f"line {section.line}", f"unknown section “{title[:80]}”", section.at)

    # --- sections ---

    def _first_prompt(self, section: Section) -> None:
        request = self._request(section)
        for message in request.messages:
            parts = _MARK.split(message, maxsplit=1)
            if len(parts) == 2 and not self.imported.statement:
                self.imported.statement = parts[1].strip()
        self.rounds += 1
        self.calls.begin(self._key("solve"), "solver", self.rounds, prompt=request.messages)

    def _response(self, section: Section) -> None:
        answer = answer_of(section.value())
        self.model = answer.model or self.model
        self.calls.note(answer)

    def _first_solution(self, section: Section) -> None:
        self.calls.ensure(self._key("solve"), "solver", max(1, self.rounds))
        self._candidate(section, "solution", f"c{max(1, self.rounds)}.1")

    def _improving(self, section: Section) -> None:
        self.calls.begin(self._key("improve"), "improver", self.rounds, subject=self._subject)

    def _corrected(self, section: Section) -> None:
        if self.calls.role == "improver" or not (self.calls.role or self.corrections):
            self._candidate(section, "improvement", f"c{max(1, self.rounds)}.2")
        else:
            self._candidate(section, "correction", f"c{self.rounds}.1")

    def _complete(self, section: Section) -> None:
        """Record the check whether the solution claims to be complete; its answer has no effect."""
        self.asked += 1
        self.calls.begin(f"complete/{self.asked}", "decider", self.rounds, self._subject, self.asked)
        self.calls.end(section.text())

    def _check_prompt(self, section: Section) -> None:
        self.checks += 1
        request = self._request(section)
        self.calls.begin(f"check/{self.checks}", "verifier", self.rounds, self._subject, self.checks, request.messages)

    def _check_results(self, section: Section) -> None:
        self.report = section.text()
        self.calls.ensure(f"check/{max(1, self.checks)}", "verifier", self.rounds, self._subject, self.checks)
        self.calls.end(self.report)
        self.calls.begin(f"check/{self.checks}/decide", "decider", self.rounds, self._subject, self.checks)

    def _decided(self, section: Section) -> None:
        text = section.text()
        self.calls.ensure(f"check/{max(1, self.checks)}/decide", "decider", self.rounds, self._subject, self.checks)
        self.calls.end(text)
        word = _FIRST_WORD.match(text.strip().lower())
        passed = {"yes": True, "no": False}.get(word[0] if word else "")
        self.streaks = self.streaks.after(passed)
        if passed is not None:
            self.passed[self.current] = self.passed.get(self.current, 0) + passed
        event = CandidateJudged(
            candidate=self.current,
            index=self.checks,
            call=f"check/{self.checks}",
            passed=passed,
            unscored="" if passed is not None else f"neither yes nor no: {text[:60]!r}",
            summary=self.report,
            passes=self.streaks.passes,
            failures=self.streaks.failures,
        )
        self.imported.add(f"check/{self.checks}/judged", event, self.calls.now)

    def _correct_prompt(self, section: Section) -> None:
        self.corrections += 1
        self.rounds += 1
        request = self._request(section)
        name = f"correct/{self.corrections}"
        self.calls.begin(name, "corrector", self.rounds, self._subject, self.corrections, request.messages)

    def _new_run(self, number: int) -> None:
        """Start a new run of the pipeline after it gave up; its candidates get new rounds."""
        self.calls.fail("the log continues without its answer")
        self.calls.rollout = number
        self.current, self.streaks, self.stopped = "", Streaks(), ""

    # --- helpers ---

    @property
    def _subject(self) -> str:
        return f"candidate {self.current}" if self.current else ""

    def _key(self, name: str) -> str:
        return f"run{self.calls.rollout}/{name}" if self.calls.rollout else name

    def _request(self, section: Section) -> Request:
        try:
            request = request_of(section.value())
        except CutOff:
            self.imported.unread(
                f"line {section.line}", f"“{section.title}” is truncated; its prompt was not imported", section.at
            )
            return Request()
        self.model = self.model or request.model
        self.calls.model = model_word(self.model)
        return request

    def _candidate(self, section: Section, made_as: CandidateKind, name: str) -> None:
        text = section.text()
        steps = paragraphs(text)
        call = self.calls.end(text)
        if not steps or name in self.texts:
            why = "is empty" if not steps else "occurs twice"
            self.imported.unread(f"line {section.line}", f"“{section.title}” {why}", section.at)
            return
        parents = (self.current,) if self.current and made_as != "solution" else ()
        event = CandidateDrafted(
            candidate=name, made_as=made_as, text="\n\n".join(steps), steps=steps, call=call, round=self.rounds, parents=parents
        )
        self.imported.add(f"candidate/{name}", event, self.calls.now)
        self.texts[name] = steps
        self.current = name

    def _end(self, last_line: int) -> None:
        if self.calls.is_open:
            self.stopped = f"The log ends at line {last_line} during a call."
            self.imported.unread(f"line {last_line}", "the log ends before the answer to this call")
            self.calls.fail("the log ends before its answer")
        order = {name: number for number, name in enumerate(self.texts)}
        best = self.accepted or max(order, key=lambda name: (self.passed.get(name, 0), order[name]), default="")
        if not best:
            self.imported.outcome = Outcome(accepted=None, reason="The log has no solution.", ended_by="nothing-readable")
            return
        reason = self._reason(best)
        self.imported.add(PROOF, _proof(self.texts[best]), self.calls.now)
        self.imported.add(
            "proof/selected", ProofSelected(proof=PROOF, accepted=bool(self.accepted), reason=reason), self.calls.now
        )
        ended_by = "accepted" if self.accepted else "exhausted"
        self.imported.outcome = Outcome.model_validate(
            {"accepted": bool(self.accepted), "proof": PROOF, "reason": reason, "ended_by": ended_by}
        )

    def _reason(self, best: str) -> str:
        if self.accepted:
            return f"Accepted by the log: {self.accepted_after} checks in a row found no fault."
        of_all = f"{self.passed.get(best, 0)} of {self.checks} checks passed the version shown."
        return f"Not accepted: {self.stopped or 'the log ends without a solution that it accepts.'} {of_all}"


def _proof(steps: tuple[str, ...]) -> ProofDrafted:
    return ProofDrafted(proof=PROOF, text="\n\n".join(steps), steps=steps, call="", rollout=0)
