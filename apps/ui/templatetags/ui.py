"""Template tags available on every page without loading. docs/components.md lists them."""

import html
import uuid
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django import template
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.reasoning.marking.schemes.scheme import points_text, points_words
from apps.reasoning.marking.sheets.pages import place_title, place_words
from apps.reasoning.texts.latex import shown_of, without_author
from apps.ui import formulas, markdown, words
from apps.ui.asking import FIELD, Question
from apps.ui.zones import exact, zone_of

register = template.Library()
register.filter("prose", markdown.render)
register.filter("written_as", shown_of)
register.filter("nameless", without_author)
register.filter("answer", markdown.render_answer)
register.filter("unclosed", formulas.unclosed)
register.filter("tex_inline", markdown.render_inline)
register.filter("thousands", words.thousands)
register.filter("compact", words.compact)
register.filter("duration", words.duration)
register.filter("place", place_words)
register.filter("place_title", place_title)


@register.filter
def one_full_stop(sentence: str | None) -> str:
    """A reason with exactly one full stop at the end."""
    return f"{(sentence or '').rstrip('.')}."


@register.filter
def field_words(name: str) -> str:
    """A label from the name of a form field, for use without the form."""
    return name.replace("_", " ").replace("-", " ").strip().capitalize()


@register.filter
def points(value: Decimal | float | None) -> str:
    """Points as written by people: 2.5 and 20, never 2.50 or 2E+1; a dash for None. A mean has two decimals."""
    if value is None:
        return "—"
    return points_text(value if isinstance(value, Decimal) else Decimal(str(round(value, 2))))


@register.filter(name="points_words")
def points_with_noun(value: Decimal | float) -> str:
    """Points with their noun: "1 point", "2.5 points"."""
    return points_words(value if isinstance(value, Decimal) else Decimal(str(round(value, 2))))


@register.simple_tag
def url_if(name: str, *args: Any, **kwargs: Any) -> str:
    """The URL of a view, or an empty text if no view has this name."""
    try:
        return reverse(name, args=args or None, kwargs=kwargs or None)
    except NoReverseMatch:
        return ""


@register.simple_tag(takes_context=True)
def nav_link(context: template.Context, name: str, label: str, below: str = "") -> SafeString | str:
    """A link of the header, marked for the current page and pages below it; empty if no view has this name.

    `below`: prefixes of the URLs of its other pages, separated by spaces. `nav_place` in the context is the URL that a page
    belongs to, if its own is elsewhere.
    """
    address = url_if(name)
    if not address:
        return ""
    request = context.get("request")
    path = context.get("nav_place") or (request.path if request is not None else "")
    if path == address and "nav_place" not in context:
        return format_html('<a href="{}" aria-current="page">{}</a>', address, label)
    if path.startswith((address, *below.split())):
        return format_html('<a href="{}" aria-current="true">{}</a>', address, label)
    return format_html('<a href="{}">{}</a>', address, label)


@register.simple_tag
def status_word(value: str, label: str = "") -> SafeString:
    """A status as glyph and word; CSS adds the glyph."""
    word = label or words.STATUS_WORDS.get(value, str(value).replace("_", " "))
    return format_html('<span class="status status--{}">{}</span>', value, word)


@register.simple_tag
def confidence(value: float | None) -> SafeString:
    """A confidence as swatch and number; "not yet verified" for None."""
    step = words.ramp_step(value)
    text = words.NOT_VERIFIED if value is None or step == "none" else f"{value:.2f}"
    return format_html('<span class="confidence"><span class="ramp ramp--{}"></span>{}</span>', step, text)


@register.simple_tag(takes_context=True)
def when(context: template.Context, moment: datetime | None, empty: str = "—") -> SafeString | str:
    """A time in words, exact on hover: in the zone of `contest` in the context, else in the reader's (site.js).

    Without JavaScript the latter is the server's.
    """
    if moment is None:
        return empty
    zone: ZoneInfo | None = getattr(context.get("contest"), "zone", None)
    local = timezone.localtime(moment, zone)
    return format_html(
        '<time datetime="{}" title="{} {}" data-when{}>{}</time>',
        moment.isoformat(),
        local.strftime("%Y-%m-%d %H:%M:%S"),
        local.tzname() or "",
        format_html(' data-zone="{}"', zone.key) if zone else "",
        words.ago(moment, zone=zone),
    )


@register.simple_tag(takes_context=True, name="moment")
def moment_exact(context: template.Context, moment: datetime | None, empty: str = "—") -> SafeString | str:
    """An exact time with its zone: that of `contest` in the context, else the server's."""
    if moment is None:
        return empty
    zone = getattr(context.get("contest"), "zone", None) or zone_of("")
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), exact(moment, zone))


@register.simple_tag
def person(user: AbstractUser | None, missing: str = "—") -> str:
    """Display name of a user, or `missing` without an account: the command line, or a deleted account."""
    return user.get_short_name() or user.get_username() if user is not None else missing


@register.simple_block_tag
def ask(content: str, yes: str = "Yes", of: str = "") -> SafeString:
    """A question in a form, asked before the form is processed (`asking`). `of`: its button as `name=value`."""
    question = Question(of, yes, html.unescape(" ".join(content.split())))
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, question.written)


@register.simple_tag
def fresh_id() -> str:
    """A new UUID for a form, so that a form sent twice is processed once."""
    return str(uuid.uuid4())


@register.simple_tag
def app_version() -> str:
    """The version of this installation."""
    return str(settings.VERSION)
