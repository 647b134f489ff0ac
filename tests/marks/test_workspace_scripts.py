"""The pure parts of the workspace's scripts, run in Node: the queue, keys, places, and sheets as the server makes them."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.marking.commands import CommandRefused, Script, sheet_apply, sheet_json
from apps.reasoning.marking.sheet import Fallacy, MarkSheet, Role
from apps.reasoning.texts.segmentation import segment
from tests.node import _run
from tests.schemes.factory import content

SOURCE = "One step.\n\nAnother step.\n\nA third one."
PLACES = [
    ("Then p is odd", 5, 6, "Then $p$ is *odd*", 0, "p"),
    ("Then p is odd", 10, 13, "Then $p$ is *odd*", 0, "odd"),
    ("a  b", 0, 4, "x\ny", 0, None),
    ("Let 𝔽 be a field", 4, 6, "Let 𝔽 be a field", 100, "𝔽"),
    ("𝔽𝔽 is a field", 5, 8, "𝔽𝔽 **is** a field", 0, "is"),
    ("the sum n of the n", 17, 18, "the sum $n$ of the $n$", 0, "n"),
]


def runs(count: int = 40, length: int = 25) -> list[list[dict[str, Any]]]:
    """Sequences of commands that the server takes."""
    drawn = random.Random(5)
    script = Script(source=SOURCE, steps=tuple(segment(SOURCE)))
    made = []
    for _ in range(count):
        sheet = MarkSheet()
        run: list[dict[str, Any]] = []
        while len(run) < length:
            verb, args = command(drawn, sheet)
            try:
                sheet = sheet_apply(sheet, verb, args, content(), script)
            except CommandRefused:
                continue
            run.append({"verb": verb, "args": args})
        made.append(run)
    return made


def command(drawn: random.Random, sheet: MarkSheet) -> tuple[str, dict[str, Any]]:
    """One command that may or may not fit the sheet."""
    code, step = drawn.choice(["A1", "A2", "B1", "K5", "D1"]), drawn.randint(1, 3)
    verdicts = [one.id for one in sheet.verdicts]
    verdict, comment = drawn.choice([*verdicts, "new"]), drawn.choice([*(one.id for one in sheet.comments), "new"])
    role = drawn.choice(list(Role)).value
    choices: list[tuple[str, dict[str, Any]]] = [
        ("tick", {"code": code}), ("untick", {"code": code}), ("band", {"band": drawn.choice(["solution", "beginning", None])}),
        ("points", {"points": drawn.choice(["0", "3", "7", None])}), ("reason", {"words": f"because {step}"}),
        ("approach", {"words": f"by {code}"}), ("grant", {"step": step, "on": drawn.random() < 0.7}),
        ("verdict", {"id": f"v{drawn.randint(1, 5)}", "step": step, "fallacy": drawn.choice(list(Fallacy)).value, "role": role,
                     "root": drawn.choice(["", *verdicts]), "words": "why", "items": [code], "anchor": None}),
        ("verdict_role", {"id": verdict, "role": role, "root": drawn.choice(["", *verdicts])}),
        ("verdict_remove", {"id": verdict}),
        ("comment", {"id": f"c{drawn.randint(1, 4)}", "step": step, "words": "so", "items": [], "anchor": None,
                     "audience": drawn.choice(["student", "markers"])}),
        ("comment_remove", {"id": comment}),
        ("link", {"kind": "verdict", "id": verdict, "code": code, "on": drawn.random() < 0.7}),
        ("link", {"kind": "comment", "id": comment, "code": code, "on": drawn.random() < 0.7}),
    ]  # fmt: skip
    return drawn.choice([*choices, ("clear", {})] if drawn.random() < 0.1 else choices)


@pytest.fixture(scope="module")
def told() -> Any:
    places = [dict(zip(("shown", "from", "to", "source", "base"), _units(row), strict=True)) for row in PLACES]
    return _run(Path(__file__).parent / "check_workspace.mjs", (), json.dumps({"runs": runs(), "places": places}))


def _units(row: tuple[str, int, int, str, int, str | None]) -> tuple[str, int, int, str, int]:
    return row[:5]


def test_a_sheet_here_is_the_sheet_that_the_server_makes(told: Any) -> None:
    script = Script(source=SOURCE, steps=tuple(segment(SOURCE)))
    for run, shown in zip(runs(), told["sheets"], strict=True):
        sheet = MarkSheet()
        for one, here in zip(run, shown, strict=True):
            sheet = sheet_apply(sheet, one["verb"], one["args"], content(), script)
            assert here["sheet"] == sheet_json(sheet), one
            assert here["first"] == sheet.first_error


@pytest.mark.parametrize("index", range(len(PLACES)))
def test_what_is_selected_is_found_in_the_source(told: Any, index: int) -> None:
    _, _, _, source, base, quote = PLACES[index]
    place = told["places"][index]
    found = source[place["start"] - base : place["end"] - base] if place else None
    assert found == quote or (quote is None and place is not None and place["start"] < place["end"])


def test_places_count_code_points(told: Any) -> None:
    assert told["units"] == [2, 3, [2, 5, 6]]


def test_text_is_sent_when_typing_pauses_and_as_one_command(told: Any) -> None:
    debounced = told["debounced"]
    assert (debounced["early"], debounced["still"]) == (0, 0)
    assert debounced["sent"] == [["reason", {"words": "abc"}, 0]]
    assert debounced["statuses"] == ["waiting", "saving", "saved"]


def test_what_was_typed_before_a_tick_is_sent_before_it(told: Any) -> None:
    assert told["order"] == [["reason", 0], ["tick", 1]]


def test_without_a_connection_commands_are_kept_and_sent_later(told: Any) -> None:
    assert told["offline"]["kept"] == [2]
    assert told["offline"]["left"] == 0
    assert told["offline"]["version"] == 2
    assert "offline" in told["offline"]["statuses"]
    assert told["offline"]["statuses"][-1] == "saved"


def test_a_new_tab_sends_what_a_killed_one_left(told: Any) -> None:
    assert told["killed"] == {"waiting": ["tick", "reason"], "sent": ["tick", "reason"], "left": 0}


def test_what_was_left_on_an_older_state_is_a_conflict(told: Any) -> None:
    assert told["stale"] == {"conflicts": 1, "sent": 1}


def test_a_conflict_waits_for_a_decision_and_then_sends_all_or_nothing(told: Any) -> None:
    assert told["mine"] == {"conflicts": 1, "held": 1, "sent": [["points", 0], ["points", 3], ["tick", 4]], "version": 5}
    assert told["theirs"] == {"conflicts": 1, "held": 1, "sent": [["points", 0]], "version": 3}


def test_a_refused_command_is_told_and_the_next_goes_on(told: Any) -> None:
    assert told["refused"] == {"refused": ["A9 is no item."], "version": 1, "flushed": True}


def test_a_script_that_is_gone_takes_no_more_commands(told: Any) -> None:
    assert told["gone"] == {"gone": "Gone.", "sent": 1, "flushed": False}


def test_who_is_signed_out_keeps_their_work_and_is_told(told: Any) -> None:
    assert told["signed_out"]["statuses"][-1] == "signed-out"
    assert not told["signed_out"]["flushed"]
    assert told["signed_out"]["kept"] == 1


def test_keys_have_the_names_of_the_table(told: Any) -> None:
    assert told["names"] == ["j", "?", "Alt+j", "Ctrl+Enter", "Ctrl+z", "", "Space", ""]
    assert told["single"] == [True, True, False, False, True]


def test_the_switch_leaves_keys_with_ctrl_alt_and_enter(told: Any) -> None:
    assert told["bound"] == [["Enter", "seal"], ["Ctrl+Enter", "seal"]]
    assert told["boundAll"][-1] == ["g", "grant"]


def test_commands_are_found_by_the_beginnings_of_their_words(told: Any) -> None:
    assert told["found"] == [["grant"], ["seal"], []]


def test_digits_are_points_and_two_of_them_where_the_scale_needs_it(told: Any) -> None:
    assert told["digits"] == ["7", None, "14", "9", "4"]
    assert told["halves"] == ["3.5", "3", "0.5", None]


def test_points_that_the_server_has_yet_to_compute_are_not_guessed(told: Any) -> None:
    assert told["points"] == ["4", "awaited", "3"]
