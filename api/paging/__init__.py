"""Paging: delivers alerts as messages to every target, at least once."""
