DELETE FROM refresh_work WHERE partition = 0 AND refresh_id = %(refresh_id)s
