"""What a result says of an error's role is true of the sheet that it stands on."""

from django.template.loader import render_to_string

from apps.reasoning.marking.sheet import Fallacy, MarkSheet, Role, StepVerdict
from apps.results.shown import verdict_shown

ROOT = StepVerdict(id="v1", step=2, fallacy=Fallacy.GAP, role=Role.ROOT, words="")
CONSEQUENCE = StepVerdict(id="v2", step=3, fallacy=Fallacy.CONCLUSION, role=Role.CONSEQUENCE, root="v1", words="")


def test_other_errors_follow_from_a_root_only_where_one_does() -> None:
    assert verdict_shown(ROOT, MarkSheet(verdicts=(ROOT, CONSEQUENCE))).role == "other errors follow from it"
    assert verdict_shown(ROOT, MarkSheet(verdicts=(ROOT,))).role == "stands by itself"


def test_what_a_model_found_is_labelled_and_what_a_marker_wrote_is_not() -> None:
    found = ROOT.model_copy(update={"origin": "model"})
    shown = verdict_shown(found, MarkSheet(verdicts=(found,)))
    assert shown.origin.startswith("AI: found and worded by a model")
    assert shown.origin in render_to_string("results/_verdict.html", {"one": shown, "text_format": "markdown"})
    own = verdict_shown(ROOT, MarkSheet(verdicts=(ROOT,)))
    assert own.origin == ""
    assert "AI" not in render_to_string("results/_verdict.html", {"one": own, "text_format": "markdown"})
