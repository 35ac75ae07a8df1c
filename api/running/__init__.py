"""What every wing of a running process stands on: engine, connections, tasks, time, ids."""
