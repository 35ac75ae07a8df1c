-- No nested loops: the planner has no statistics on these sets, and nested loops take hours where a
-- hash join takes a second. Correlated subqueries still loop.
SELECT set_config('enable_nestloop', 'off', true)
