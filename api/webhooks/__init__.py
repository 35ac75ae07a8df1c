"""What billing and mail providers post, turned into facts: one file per provider, all pure."""
