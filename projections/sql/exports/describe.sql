SELECT * FROM (
{query}
) AS described LIMIT 0
