(
    SELECT 'only live', to_jsonb(x)::text
    FROM (TABLE {live}.{table} EXCEPT TABLE {fresh}.{table}) x LIMIT %(most)s
)
UNION ALL
(
    SELECT 'only rebuilt', to_jsonb(x)::text
    FROM (TABLE {fresh}.{table} EXCEPT TABLE {live}.{table}) x LIMIT %(most)s
)
