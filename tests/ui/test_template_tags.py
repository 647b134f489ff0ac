"""Template tags that every page uses."""

import re
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone

from apps.accounts.models import User


def _render(source: str, **context: Any) -> str:
    return Template(source).render(Context(context))


def test_a_link_of_the_header_marks_the_current_page() -> None:
    source = '{% nav_link "accounts:profile" "Profile" %}'
    here = RequestFactory().get("/accounts/profile/")
    below = RequestFactory().get("/accounts/profile/more/")
    elsewhere = RequestFactory().get("/")
    assert 'aria-current="page"' in _render(source, request=here)
    assert 'aria-current="true"' in _render(source, request=below)
    assert "aria-current" not in _render(source, request=elsewhere)


def test_a_link_to_a_missing_view_is_left_out() -> None:
    assert _render('{% nav_link "nowhere:list" "Nowhere" %}') == ""
    assert _render('{% url_if "nowhere:list" as url %}[{{ url }}]') == "[]"


def test_a_status_is_a_class_and_a_word() -> None:
    assert _render("{% status_word s %}", s="needs_fork") == '<span class="status status--needs_fork">needs a fork</span>'


def test_an_unverified_confidence_is_shown_in_words() -> None:
    assert "not yet verified" in _render("{% confidence c %}", c=None)
    assert "ramp--none" in _render("{% confidence c %}", c=None)
    assert _render("{% confidence c %}", c=0.0) == '<span class="confidence"><span class="ramp ramp--0"></span>0.00</span>'


def test_a_time_has_its_exact_value() -> None:
    moment = timezone.now()
    html = _render("{% when m %}", m=moment)
    assert f'datetime="{moment.isoformat()}"' in html
    assert "just now" in html
    assert _render('{% when m "never" %}', m=None) == "never"


def test_arguments_of_tags_are_escaped() -> None:
    assert "<b>" not in _render("{% status_word word %}", word="<b>")


def test_a_user_is_named_and_a_missing_user_has_a_placeholder() -> None:
    assert _render("{% person u %}", u=User(username="alice")) == "alice"
    assert _render("{% person u %}", u=User(username="alice", first_name="Alice")) == "Alice"
    assert _render("{% person u %}", u=None) == "—"
    assert _render('{% person u "command line" %}', u=None) == "command line"


def test_a_reason_becomes_a_sentence_with_one_full_stop() -> None:
    source = "{{ reason|one_full_stop }}"
    assert _render(source, reason="Shorten the prompt.") == "Shorten the prompt."
    assert _render(source, reason="no answer") == "no answer."


def test_a_link_of_the_header_can_cover_other_addresses() -> None:
    source = '{% nav_link "accounts:profile" "Profile" "/other/ /third/" %}'
    for path in ("/other/page/", "/third/", "/accounts/profile/more/"):
        assert 'aria-current="true"' in _render(source, request=RequestFactory().get(path)), path
    assert "aria-current" not in _render(source, request=RequestFactory().get("/else/"))


def test_points_have_their_noun_in_singular_or_plural() -> None:
    shown = [_render("{{ value|points_words }}", value=value) for value in (Decimal("1.00"), Decimal("2.50"), 0)]
    assert shown == ["1 point", "2.5 points", "0 points"]


def test_no_template_writes_points_with_a_fixed_plural() -> None:
    """A variable before the word may be 1."""
    pages = (settings.BASE_DIR / "templates").rglob("*.html")
    assert [page.name for page in pages if re.search(r"\}\}(</\w+>)? points\b", page.read_text())] == []
