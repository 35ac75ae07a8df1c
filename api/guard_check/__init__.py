"""The guard check: live probes that prove that the guards work, before anybody may resume."""
