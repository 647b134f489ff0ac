"""Template tags that every page may use without loading them. docs/components.md lists them."""

import html
import uuid
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.reasoning.marking.scheme import points_text
from apps.reasoning.texts.latex import shown_of, without_author
from apps.ui import formulas, markdown, words
from apps.ui.asking import FIELD, Question

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


@register.filter
def one_full_stop(sentence: str | None) -> str:
    """A reason as a sentence: with the full stop that it may have already."""
    return f"{(sentence or '').rstrip('.')}."


@register.filter
def field_words(name: str) -> str:
    """The name of a form's field as a label, where the form itself is not at hand."""
    return name.replace("_", " ").replace("-", " ").strip().capitalize()


@register.filter
def points(value: Decimal | float | None) -> str:
    """Points as people write them, 2.5 and 20, never 2.50 or 2E+1; a dash where there are none. A mean has two places."""
    if value is None:
        return "—"
    return points_text(value if isinstance(value, Decimal) else Decimal(str(round(value, 2))))


@register.simple_tag
def url_if(name: str, *args: Any, **kwargs: Any) -> str:
    """The address of a view, or nothing where no view has this name."""
    try:
        return reverse(name, args=args or None, kwargs=kwargs or None)
    except NoReverseMatch:
        return ""


@register.simple_tag(takes_context=True)
def nav_link(context: template.Context, name: str, label: str, below: str = "") -> SafeString | str:
    """A link of the header that knows whether the page is it or lies below it; nothing where no view has this name.

    `below`: the beginning of the addresses of its pages, where that is not its own address.
    """
    address = url_if(name)
    if not address:
        return ""
    request = context.get("request")
    path = request.path if request is not None else ""
    if path == address:
        return format_html('<a href="{}" aria-current="page">{}</a>', address, label)
    if path.startswith(below or address):
        return format_html('<a href="{}" aria-current="true">{}</a>', address, label)
    return format_html('<a href="{}">{}</a>', address, label)


@register.simple_tag
def status_word(value: str, label: str = "") -> SafeString:
    """A status as glyph and word; the glyph comes from the class."""
    word = label or words.STATUS_WORDS.get(value, str(value).replace("_", " "))
    return format_html('<span class="status status--{}">{}</span>', value, word)


@register.simple_tag
def confidence(value: float | None) -> SafeString:
    """A confidence as swatch and number; None is "not yet verified"."""
    step = words.ramp_step(value)
    text = words.NOT_VERIFIED if value is None or step == "none" else f"{value:.2f}"
    return format_html('<span class="confidence"><span class="ramp ramp--{}"></span>{}</span>', step, text)


@register.simple_tag
def when(moment: datetime | None, empty: str = "—") -> SafeString | str:
    """A moment in words; site.js shows the exact value in the reader's zone on hover, and the server's without it."""
    if moment is None:
        return empty
    exact = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{} {}" data-when>{}</time>',
        moment.isoformat(),
        exact.strftime("%Y-%m-%d %H:%M:%S"),
        exact.tzname() or "",
        words.ago(moment),
    )


@register.simple_tag
def person(user: AbstractUser | None, nobody: str = "—") -> str:
    """The name somebody goes by, or `nobody` where there is no account: the command line, or one taken away."""
    return user.get_short_name() or user.get_username() if user is not None else nobody


@register.simple_block_tag
def ask(content: str, yes: str = "Yes", of: str = "") -> SafeString:
    """A question in a form, asked before the form is done (`asking`). `of`: the button that asks, as `name=value`."""
    question = Question(of, yes, html.unescape(" ".join(content.split())))
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, question.written)


@register.simple_tag
def fresh_id() -> str:
    """A new UUID for a form, so that sending it twice does its work once."""
    return str(uuid.uuid4())


@register.simple_tag
def app_version() -> str:
    """The version of this installation."""
    return str(settings.VERSION)
