"""Fetches an object from the provider's API after a webhook that only says that it changed."""
