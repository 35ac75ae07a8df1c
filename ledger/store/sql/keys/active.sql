SELECT key_id FROM keys WHERE partition = 0 AND revoked_at IS NULL
