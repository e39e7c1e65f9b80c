"""`{% fixed "components/keys.html" name=value %}` includes a template that sees only the values named, and keeps its HTML."""

from django import template

from annotation_app.pages.fixed import fixed_part

register = template.Library()
register.simple_tag(fixed_part, name="fixed")
