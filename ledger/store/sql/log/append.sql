SELECT append_batch($1, $2, $3, $4)
