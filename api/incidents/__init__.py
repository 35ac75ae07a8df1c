"""Incident reports for people: three formats, a chart and a timeline."""
