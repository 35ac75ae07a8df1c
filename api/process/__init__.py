"""The composition root: builds, starts and stops the parts of one process."""
