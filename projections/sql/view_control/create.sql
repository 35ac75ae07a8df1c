CREATE OR REPLACE VIEW analytics.{view} AS
{body}
