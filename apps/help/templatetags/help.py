"""The "?" in the header of every page."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.help.documents import page_get, page_url
from apps.help.places import section_of

register = template.Library()


@register.simple_tag(takes_context=True)
def help_link(context: template.Context) -> SafeString:
    """A link to the section about this page; to the contents on pages of errors, which belong to no view."""
    match = getattr(context.get("request"), "resolver_match", None)
    name, _, anchor = (section_of(match.view_name) if match else "").partition("#")
    page = page_get(name)
    title = next((one.title for one in page.sections if one.anchor == anchor), page.title) if page else "contents"
    return format_html(
        '<a class="help-link" href="{}" aria-label="Help: {}" title="Help: {}">?</a>', page_url(name, anchor), title, title
    )
