"""Template filters of the lemma pages."""

from django import template

from apps.ui.words import ramp_step

register = template.Library()
register.filter("ramp_step", ramp_step)
