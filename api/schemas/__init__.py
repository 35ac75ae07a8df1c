"""The shapes of the HTTP contract: what requests may hold and what answers look like."""
