"""Template filters of the lemma pages."""

from functools import lru_cache

from django import template

from apps.ui.markdown import render_inline
from apps.ui.words import ramp_step

register = template.Library()
register.filter("ramp_step", ramp_step)
# A live outline renders the same statements again and again.
register.filter("statement_inline", lru_cache(maxsize=4096)(render_inline))
