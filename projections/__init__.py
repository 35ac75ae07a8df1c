"""The read side: disposable tables built from the log, the projector and their rebuilding (D15)."""
