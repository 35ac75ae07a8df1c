-- The positions of the log and of the live read models; an idle projector polls this.
SELECT (SELECT coalesce(max(e.position), 0) FROM events e WHERE e.partition = 0),
    (
        SELECT coalesce(json_object_agg(g.name, json_build_array(g.position, g.failed_position)), '{}')
        FROM projections p JOIN projection_generations g USING (partition, name, generation)
        WHERE p.partition = 0
    )
