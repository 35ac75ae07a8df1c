-- Over sets whose size no statistics tell: loops within loops would take hours where a hash takes
-- a second. Where a statement is correlated it loops all the same.
SELECT set_config('enable_nestloop', 'off', true)
