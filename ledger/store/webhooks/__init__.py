"""What webhooks leave behind: bodies that could not be used, objects that must be fetched."""
