"""The pure parts of the workspace scripts in Node: the queue, keys, places, and sheets equal to the server's."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.marking.sheets.commands import CommandRefused, Script, sheet_apply, sheet_json
from apps.reasoning.marking.sheets.sheet import Fallacy, MarkSheet, Role
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
    """Generate sequences of commands that the server accepts."""
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
    """Generate a command that may or may not fit the sheet."""
    code, step = drawn.choice(["A1", "A2", "B1", "K5", "D1"]), drawn.randint(1, 3)
    verdicts = [one.id for one in sheet.verdicts]
    verdict, comment = drawn.choice([*verdicts, "new"]), drawn.choice([*(one.id for one in sheet.comments), "new"])
    role = drawn.choice(list(Role)).value
    choices: list[tuple[str, dict[str, Any]]] = [
        ("tick", {"code": code}), ("tick", {"code": code, "step": step}), ("untick", {"code": code}),
        ("band", {"band": drawn.choice(["solution", "beginning", None])}),
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
def answers() -> Any:
    places = [dict(zip(("shown", "from", "to", "source", "base"), _units(row), strict=True)) for row in PLACES]
    return _run(Path(__file__).parents[1] / "check_workspace.mjs", (), json.dumps({"runs": runs(), "places": places}))


def _units(row: tuple[str, int, int, str, int, str | None]) -> tuple[str, int, int, str, int]:
    return row[:5]


def test_a_sheet_in_the_browser_equals_the_sheet_of_the_server(answers: Any) -> None:
    script = Script(source=SOURCE, steps=tuple(segment(SOURCE)))
    for run, shown in zip(runs(), answers["sheets"], strict=True):
        sheet = MarkSheet()
        for one, here in zip(run, shown, strict=True):
            sheet = sheet_apply(sheet, one["verb"], one["args"], content(), script)
            assert here["sheet"] == sheet_json(sheet), one
            assert here["first"] == sheet.first_error


@pytest.mark.parametrize("index", range(len(PLACES)))
def test_a_selection_is_found_in_the_source(answers: Any, index: int) -> None:
    _, _, _, source, base, quote = PLACES[index]
    place = answers["places"][index]
    found = source[place["start"] - base : place["end"] - base] if place else None
    assert found == quote or (quote is None and place is not None and place["start"] < place["end"])


def test_places_count_code_points(answers: Any) -> None:
    assert answers["units"] == [2, 3, [2, 5, 6]]


def test_text_is_sent_as_one_command_when_typing_pauses(answers: Any) -> None:
    debounced = answers["debounced"]
    assert (debounced["early"], debounced["still"]) == (0, 0)
    assert debounced["sent"] == [["reason", {"words": "abc"}, 0]]
    assert debounced["statuses"] == ["waiting", "saving", "saved"]


def test_text_typed_before_a_tick_is_sent_first(answers: Any) -> None:
    assert answers["order"] == [["reason", 0], ["tick", 1]]


def test_commands_are_kept_offline_and_sent_later(answers: Any) -> None:
    assert answers["offline"]["kept"] == [2]
    assert answers["offline"]["left"] == 0
    assert answers["offline"]["version"] == 2
    assert "offline" in answers["offline"]["statuses"]
    assert answers["offline"]["statuses"][-1] == "saved"


def test_a_new_tab_sends_the_commands_of_a_killed_tab(answers: Any) -> None:
    assert answers["killed"] == {"waiting": ["tick", "reason"], "sent": ["tick", "reason"], "left": 0}


def test_commands_on_an_older_state_are_a_conflict(answers: Any) -> None:
    assert answers["stale"] == {"conflicts": 1, "sent": 1}


def test_a_conflict_waits_for_a_decision_and_then_sends_all_or_no_commands(answers: Any) -> None:
    assert answers["mine"] == {"conflicts": 1, "held": 1, "sent": [["points", 0], ["points", 3], ["tick", 4]], "version": 5}
    assert answers["theirs"] == {"conflicts": 1, "held": 1, "sent": [["points", 0]], "version": 3}


def test_a_refused_command_is_reported_and_the_next_one_is_sent(answers: Any) -> None:
    assert answers["refused"] == {"refused": ["A9 is no item."], "version": 1, "flushed": True}


def test_a_lost_script_accepts_no_more_commands(answers: Any) -> None:
    assert answers["gone"] == {"gone": "Gone.", "sent": 1, "flushed": False}


def test_a_signed_out_marker_keeps_their_work_and_gets_a_status(answers: Any) -> None:
    assert answers["signed_out"]["statuses"][-1] == "signed-out"
    assert not answers["signed_out"]["flushed"]
    assert answers["signed_out"]["kept"] == 1


def test_keys_have_the_names_of_the_key_table(answers: Any) -> None:
    assert answers["names"] == ["j", "?", "Alt+j", "Ctrl+Enter", "Ctrl+z", "", "Space", ""]
    assert answers["single"] == [True, True, False, False, True]


def test_the_switch_keeps_keys_with_ctrl_alt_and_enter(answers: Any) -> None:
    assert answers["bound"] == [["Enter", "seal"], ["Ctrl+Enter", "seal"]]
    assert answers["boundAll"][-1] == ["g", "grant"]


def test_commands_are_found_by_the_beginnings_of_their_words(answers: Any) -> None:
    assert answers["found"] == [["grant"], ["seal"], []]


def test_digits_enter_points_with_two_digits_on_large_scales(answers: Any) -> None:
    assert answers["digits"] == ["7", None, "14", "9", "4"]
    assert answers["halves"] == ["3.5", "3", "0.5", None]


def test_one_point_has_no_plural(answers: Any) -> None:
    assert answers["words"] == ["1 point", "2.5 points", "0 points", "1 point"]


def test_points_are_not_shown_before_the_server_computed_them(answers: Any) -> None:
    assert answers["points"] == ["4", "awaited", "3"]
