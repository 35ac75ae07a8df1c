"""The name of the user who runs a command: who is on record where no other name is given."""

import getpass


def user_name() -> str:
    """The name of the user who runs the command; in a container it may have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "the command line"
