"""The command line: one file a group of commands, over the same inner wings as HTTP."""
