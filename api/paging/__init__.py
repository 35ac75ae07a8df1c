"""Paging: alerts become messages and reach every target at least once."""
