"""Claiming what is due: one permit for each customer who can be mailed now, shared among claims."""
