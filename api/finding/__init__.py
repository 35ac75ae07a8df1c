"""Finding: what a text may be the name of."""
