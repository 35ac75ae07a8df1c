-- The schema for analysts. Its views are made by the program, which keeps here what each was made
-- from. A program that does not know them must not run on them: it would drop what they read.

CREATE TABLE analytics_views (
    partition integer NOT NULL,
    name text NOT NULL,
    made_from text NOT NULL,
    PRIMARY KEY (partition, name)
);
COMMENT ON TABLE analytics_views IS 'The views of the schema analytics, and a digest of what each was made from.';
