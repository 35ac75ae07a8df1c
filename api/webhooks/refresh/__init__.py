"""Fetching what a webhook only hints at, from the provider's own API."""
