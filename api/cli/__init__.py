"""The command line: one file per group of commands, using the same packages as HTTP."""
