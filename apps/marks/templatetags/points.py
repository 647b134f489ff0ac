"""`{{ mark.points|points }}`: points as people write them, 2.5 and 20, never 2.50 or 2E+1."""

from decimal import Decimal

from django import template

from apps.reasoning.marking.scheme import points_text

register = template.Library()


@register.filter
def points(value: Decimal | None) -> str:
    """The number in its shortest form; a dash where there is none."""
    return "—" if value is None else points_text(value)
