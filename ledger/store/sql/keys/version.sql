SELECT value::bigint FROM settings WHERE partition = 0 AND name = 'keys_version'
