"""Verification of webhook senders: HMAC, Standard Webhooks, SNS, HTTP Basic."""
