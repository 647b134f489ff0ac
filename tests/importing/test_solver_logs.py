"""Solver–verifier logs become runs of Self-Check: calls with their texts, candidates, judgements, an accepted proof."""

import time

import pytest

from apps.explorations.candidates.solutions import solutions
from apps.explorations.importing import solver_logs
from apps.explorations.importing.imported_run import LogFile, LogWrong, paragraphs
from apps.explorations.importing.log_payloads import answer_of, request_of
from apps.explorations.importing.log_sections import sections
from apps.reasoning.programs.anytime import NoAnytimeAnswer, answers_over
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import RunStatus
from apps.runs.selectors import step_texts
from tests.importing.files import check, correction, heading, import_of, imported, solver_log, unread

pytestmark = pytest.mark.django_db
DONE = [heading("Correct solution found."), '"x"', heading("Found a correct solution in run 0."), '"x"']


def test_a_whole_log_is_a_finished_run_with_its_candidates_and_judgements() -> None:
    run = imported(solver_log(*check("no"), *correction(), *check("Yes, it is."), *DONE))
    assert (run.status, run.scaffold, run.is_imported) == (RunStatus.FINISHED, "self_check", True)
    found = solutions(run)
    assert sorted(solution.id for round_ in found.rounds for solution in round_.solutions) == ["c1.1", "c1.2", "c2.1"]
    assert found.selected == "c2.1"
    by_name = {solution.id: solution for round_ in found.rounds for solution in round_.solutions}
    assert by_name["c1.2"].opinions[0].verdict == "fail, 1 in a row"
    assert by_name["c2.1"].opinions[0].verdict == "pass, 1 in a row"
    assert by_name["c2.1"].parents == ("c1.2",)
    assert run.outcome is not None
    assert run.outcome["accepted"] is True
    assert unread(run) == []


def test_it_has_no_answers_over_time_although_it_is_a_run_of_self_check() -> None:
    run = imported(solver_log(*check("Yes, it is."), *DONE))
    events = [(row.seq, event_from(row.kind, row.body)) for row in run.events.order_by("seq")]
    with pytest.raises(NoAnytimeAnswer, match=r"The run was imported from .*only the end of the run can be scored\."):
        answers_over(run.scaffold, run.spec["params"], events)


def test_its_events_are_ours_without_gaps_and_at_the_times_of_the_log() -> None:
    run = imported(solver_log(*check("yes"), *DONE))
    rows = list(run.events.order_by("seq"))
    assert [row.seq for row in rows] == list(range(1, run.last_seq + 1))
    assert [row.at for row in rows] == sorted(row.at for row in rows)
    for row in rows:
        assert event_from(row.kind, row.body).kind == row.kind
    began = next(row for row in rows if row.key == "solve/began")
    ended = next(row for row in rows if row.key == "solve/ended")
    assert (ended.at - began.at).total_seconds() == 300


def test_a_call_keeps_its_prompt_text_model_and_tokens() -> None:
    run = imported(solver_log())
    step = run.steps.get(key="solve")
    prompts, text, _ = step_texts(step)
    assert prompts[0] == "Prove what is asked."
    assert text.startswith("Let $n=2k+1$.")
    assert (step.alias, step.prompt_tokens, step.completion_tokens, step.reasoning_tokens) == ("tiny-1", 100, 70, 50)
    assert step.duration_s == 300
    assert (run.prompt_tokens, run.completion_tokens) == (100, 70)


def test_a_log_without_times_keeps_its_order_and_says_so() -> None:
    run = imported(solver_log(*check("yes"), timed=False))
    assert run.events.get(kind="import.source").body["times"] == "order only"
    times = list(run.events.order_by("seq").values_list("at", flat=True))
    assert times == sorted(times)
    assert run.active_seconds == 0


def test_a_log_that_breaks_off_in_a_solution_is_imported_as_far_as_it_goes() -> None:
    whole = solver_log(*check("no"), *correction("A long text that is cut."))
    run = imported(whole[: whole.rindex("that is cut")])
    assert any("is truncated" in line for line in unread(run))
    assert any("ends before the answer" in line for line in unread(run))
    assert solutions(run).count == 2
    assert run.outcome is not None
    assert run.outcome["accepted"] is False
    assert run.steps.get(key="correct/1").failure


def test_an_error_in_a_run_fails_the_call_and_the_log_continues() -> None:
    lost = [heading("Verification prompt:"), "{}", heading("Error in run 10: 429 Too Many Requests")]
    run = imported(solver_log(*lost, *correction(), *check("yes"), *DONE))
    assert run.steps.get(key="check/1").failure == "429 too many requests"
    assert run.outcome is not None
    assert run.outcome["accepted"] is True


@pytest.mark.parametrize("said", ["incorrect", "It is not clear", "yesterday", ""])
def test_what_is_neither_yes_nor_no_passes_nothing(said: str) -> None:
    run = imported(solver_log(*check(said)))
    judged = run.events.get(kind="candidate.judged").body
    assert judged["passed"] is None
    assert "neither yes nor no" in judged["unscored"]


def test_an_unknown_section_is_listed_and_the_rest_is_read() -> None:
    run = imported(solver_log(heading("Consulting the oracle"), "…", *check("yes")))
    assert [line.partition(": ")[2] for line in unread(run)] == ["unknown section “consulting the oracle”"]
    assert run.events.filter(kind="candidate.judged").count() == 1


def test_an_attempt_that_gives_up_is_a_normal_end_of_a_log() -> None:
    run = imported(solver_log(*check("no"), heading("Failed in finding a correct solution.")))
    assert unread(run) == []
    assert run.outcome is not None
    assert "The log gives up: “failed in finding a correct solution”." in run.outcome["reason"]


def test_a_second_attempt_of_the_pipeline_has_rounds_of_its_own() -> None:
    again = solver_log().replace("Run 0 of 10", "Run 1 of 10").partition("\n")[2]
    run = imported(solver_log(*check("no"), again))
    assert [round_.number for round_ in solutions(run).rounds] == [1, 2]
    assert run.steps.get(key="run1/solve").rollout == 1


def test_a_log_without_a_problem_is_refused_in_words() -> None:
    text = solver_log().replace("*** Problem Statement ***", "Problem")
    with pytest.raises(LogWrong, match="no prompt that begins with"):
        import_of(LogFile("ours.log", text.encode()))


def test_messages_of_every_known_interface_are_found() -> None:
    gemini = {
        "systemInstruction": {"parts": [{"text": "Be exact."}]},
        "contents": [{"role": "user", "parts": [{"text": "Prove it."}, {"text": "Well."}]}],
    }
    assert request_of(gemini).messages == ("Be exact.", "Prove it.\n\nWell.")
    assert request_of({"model": "m", "input": "System: x"}).messages == ("System: x",)
    assert request_of(["no request"]).messages == ()
    assert (
        answer_of(
            {"created_at": 1754680804, "usage": {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14}}
        ).usage.completion
        == 4
    )
    assert answer_of({"usage": {"prompt_tokens": "many", "total_tokens": -3}}).usage.prompt == 0


def test_a_display_formula_is_not_cut_into_two_steps() -> None:
    assert paragraphs("First.\n\n$$a\n\n=b$$\n\nLast.") == ("First.", "$$a\n\n=b$$", "Last.")
    assert paragraphs("A list:\n\n  its end.\n\nNext.") == ("A list:\n\n  its end.", "Next.")


def test_characters_that_no_database_keeps_are_replaced() -> None:
    run = imported(solver_log(*check("yes", "Step \ud835 and \x00."), *DONE))
    assert run.events.get(kind="candidate.judged").body["summary"] == "Step \ufffd and \ufffd."


def test_a_value_that_cannot_be_decoded_breaks_off_and_the_rest_is_read() -> None:
    deep = [heading("Corrected solution:"), "[" * 500 + "]" * 500, heading("Corrected solution:"), "[" + "1" * 5_000 + "]"]
    run = imported(solver_log(*deep, *check("yes"), *DONE))
    assert sum("is truncated" in line for line in unread(run)) == 2
    assert run.outcome is not None
    assert run.outcome["accepted"] is True


@pytest.mark.parametrize(
    "row",
    [f">>>>>>> a{' ' * 200_000}b", f">>>>>>>{' ' * 200_000}", ">" * 200_000, "[\n" * 100_000],
    ids=["between", "only spaces", "signs", "brackets"],
)
def test_a_heading_with_endless_spaces_is_read_in_time(row: str) -> None:
    began = time.process_time()
    found = list(sections(f"{row}\n>>>>>>> Next:  \nbody\n"))
    solver_logs.recognises(LogFile("x.log", row.encode()))
    assert time.process_time() - began < 2
    assert (found[-1].title, found[-1].body) == ("next", "body\n")


def test_a_solution_that_was_found_stays_accepted_where_another_attempt_begins() -> None:
    again = [">>>>>>>>>>>>>>>>>>>>>>>>>> Run 1 of 10 ..."]
    run = imported(solver_log(*check("yes"), *check("yes"), *DONE, *again))
    assert run.outcome is not None
    assert (run.outcome["accepted"], run.outcome["ended_by"]) == (True, "accepted")
    assert run.outcome["reason"] == "Accepted by the log: 2 checks in a row found no fault."
    assert solutions(run).selected == "c1.2"
    other = solver_log().replace("Run 0 of 10", "Run 1 of 10").partition("\n")[2]
    other = other.replace("One of $k$ and $k+1$", "Either $k$ or $k+1$")
    run = imported(solver_log(*check("yes"), *DONE, other, *check("no")), "other.log")
    assert run.outcome is not None
    assert run.outcome["accepted"] is True
    assert solutions(run).selected == "c1.2"
