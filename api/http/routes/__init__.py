"""The endpoints of the HTTP contract, one file per topic."""
