"""Alerts: raised by decisions and by upkeep, stored in an outbox until they are delivered."""
