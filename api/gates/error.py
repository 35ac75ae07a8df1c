"""What keeps a gate from starting."""


class GateError(Exception):
    """A gate cannot start; the message says what to put right."""
