COMMENT ON VIEW analytics.progress IS
    'How far each read model has come; the other views are as fresh as those that they read.';
COMMENT ON COLUMN analytics.progress.read_model IS 'The name of the read model.';
COMMENT ON COLUMN analytics.progress.log_position IS 'The position of the log that it has taken in.';
COMMENT ON COLUMN analytics.progress.log_end_position IS 'The position of the log''s last event.';
COMMENT ON COLUMN analytics.progress.behind_count IS 'Events that it has not taken in.';
COMMENT ON COLUMN analytics.progress.is_failed IS 'It stopped at an event that it could not take in.';
