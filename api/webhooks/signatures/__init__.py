"""How providers prove who posted: HMAC, Standard Webhooks, SNS, HTTP Basic."""
