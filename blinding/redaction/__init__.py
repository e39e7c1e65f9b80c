"""Redaction: text in, cleaned text and spans out. Pure."""
