INSERT INTO policy (
    time_zone, stage_names, stage_days, stage_floors, gap_days, catch_up, adopt_before, rejections_before_hold,
    smallest_amounts, snapshot_max_age, remind_after_subscription_end)
VALUES (
    usable_zone(%(time_zone)s), %(stage_names)s, %(stage_days)s, %(stage_floors)s, %(gap_days)s,
    %(catch_up)s, %(adopt_before)s, %(rejections_before_hold)s, %(smallest_amounts)s,
    %(snapshot_max_age)s, %(remind_after_subscription_end)s
)
