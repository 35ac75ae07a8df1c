"""Request and response schemas, their translation to commands, and problem documents."""
