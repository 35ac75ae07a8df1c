-- To the end of the transaction: an analyst's query holds a view for as long as it runs.
SELECT set_config('lock_timeout', '2s', true)
