"""One file a provider: how its posts are proved and what they mean, all pure."""
