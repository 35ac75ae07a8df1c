"""The kinds of mail: one file for each, the protocol that it keeps, and what some of them share."""
