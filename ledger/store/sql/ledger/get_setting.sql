SELECT value FROM settings WHERE partition = 0 AND name = %(name)s
