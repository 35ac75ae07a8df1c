"""Explanations: why a decision was granted or denied, computed from the log."""
