"""The bounds of one connection that are no settings: how large a head is, how many requests."""

MOST_HEADERS = 100
LONGEST_HEAD = 32 * 1024
"""Bytes of names and values of all headers; the longest of ours has some 2 KB."""
LONGEST_URL = 8 * 1024
MOST_PIPELINED = 8
"""Requests of one connection that may wait for the answer before them."""
LONGEST_STRAY = 64 * 1024
"""Bytes that bring a request on by nothing: parts of a header, chunk extensions, trailers."""
