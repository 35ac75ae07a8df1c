"""Adapters to what sends mail: each says what became of a mail, and nothing that it does not know.

Every adapter hands a mail over once, without retries of its own, with what the permit says the mail
must carry. It returns Delivered, or raises Refused (certainly not out) or InDoubt.
"""
