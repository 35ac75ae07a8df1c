"""Explanations: why a decision was granted or denied, from the log alone."""
