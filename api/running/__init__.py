"""The parts of a running process that all packages share: engine, connections, tasks, time, ids."""
