"""What each provider's sent log looks like: one file a profile."""
