-- With the columns that a newer version of the program has added, which this one cannot fill.
CREATE OR REPLACE VIEW analytics.{view} AS
SELECT known.*, {more}
FROM (
{body}
) AS known
