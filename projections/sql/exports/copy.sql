COPY (
{query}
) TO STDOUT (FORMAT csv)
