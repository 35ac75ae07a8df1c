-- Delete a fetched object, unless a newer hint came meanwhile.
DELETE FROM refresh_work
WHERE partition = 0 AND refresh_id = %(refresh_id)s AND hints = %(hints)s
