"""Alerts: raised by decisions and upkeep, kept in an outbox until they are delivered."""
