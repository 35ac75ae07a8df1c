DELETE FROM {fresh}.policy;
INSERT INTO {fresh}.policy TABLE {live}.policy
