"""Stored work from webhooks: rejected bodies, and objects to fetch from a provider's API."""
