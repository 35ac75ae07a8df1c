"""One file a provider: how its calls are read, handed over, answered and refused, all pure."""
