"""One process: its parts are put together, started and stopped here and nowhere else."""
