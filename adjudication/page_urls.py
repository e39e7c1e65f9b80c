"""Addresses of adjudication's pages, inside a study."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
