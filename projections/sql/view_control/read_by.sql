-- Is a view for analysts made from this generation? Then it cannot be dropped yet.
SELECT EXISTS (
    SELECT FROM pg_depend d
    JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    JOIN pg_class v ON v.oid = r.ev_class AND v.relnamespace = to_regnamespace('analytics')
    JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid
    WHERE t.relnamespace = to_regnamespace(%(schema)s)
)
