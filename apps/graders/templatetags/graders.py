"""Template filters for pages about graders."""

from django import template

from apps.graders.planning.naming import title_of

register = template.Library()
register.filter("grader_title", title_of)
