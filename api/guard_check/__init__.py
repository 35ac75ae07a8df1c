"""The guard check: live probes that prove that the guards work, required before a resume."""
