CREATE SCHEMA IF NOT EXISTS analytics;
COMMENT ON SCHEMA analytics IS 'Views for analysts: stable names, only ever more columns, no addresses.'
