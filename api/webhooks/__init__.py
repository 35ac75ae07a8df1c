"""What billing and mail providers post: proved, translated into facts, taken in, never lost."""
