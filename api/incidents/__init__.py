"""Incidents as people read them: the report in three forms, its chart and its timeline."""
