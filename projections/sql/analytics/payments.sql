-- What was told of payments and credits within a range. News from the future is of its arrival, as
-- in MoneyFact.of_arrival(); the word that counts is the last one of lives() in the domain.
WITH told AS (
    SELECT e.originator_id, f.state IN ('credit', 'credit_taken_back') AS is_credit,
        f.name AS payment_id, f.state, f.amount,
        CASE WHEN f.at > e.recorded_at + interval '5 minutes' THEN e.recorded_at ELSE f.at END AS at,
        CASE f.state
            WHEN 'pending' THEN 0 WHEN 'failed' THEN 1 WHEN 'succeeded' THEN 2 WHEN 'credit' THEN 2
            WHEN 'reversed' THEN 3 WHEN 'credit_taken_back' THEN 3 ELSE 0 END::smallint AS place,
        e.position
    FROM events e
    CROSS JOIN LATERAL json_to_record(e.state -> 'fact') AS f(
        name text, state text, amount bigint, at timestamptz)
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic = 'ledger:Invoice.MoneyMoved'
), times AS (
    SELECT t.originator_id, t.is_credit, t.payment_id, min(t.at) AS first_at,
        min(t.at) FILTER (WHERE t.place = 2) AS succeeded_at,
        max(t.at) FILTER (WHERE t.place = 3) AS reversed_at, max(t.position) AS position
    FROM told t
    GROUP BY 1, 2, 3
), latest AS (
    SELECT DISTINCT ON (t.originator_id, t.is_credit, t.payment_id) t.*
    FROM told t
    ORDER BY t.originator_id, t.is_credit, t.payment_id,
        t.at DESC, t.place DESC, abs(t.amount) DESC, t.amount DESC
)
INSERT INTO payments AS p
SELECT l.originator_id, l.is_credit, l.payment_id, l.state, l.amount, l.at, l.place,
    s.first_at, s.succeeded_at, s.reversed_at, s.position
FROM latest l JOIN times s USING (originator_id, is_credit, payment_id)
ON CONFLICT (originator_id, is_credit, payment_id) DO UPDATE SET
    (state, amount, at, place) = (
        SELECT w.state, w.amount, w.at, w.place
        FROM (VALUES
            (p.state, p.amount, p.at, p.place),
            (excluded.state, excluded.amount, excluded.at, excluded.place)
        ) AS w(state, amount, at, place)
        ORDER BY w.at DESC, w.place DESC, abs(w.amount) DESC, w.amount DESC LIMIT 1),
    first_at = least(p.first_at, excluded.first_at),
    succeeded_at = least(p.succeeded_at, excluded.succeeded_at),
    reversed_at = greatest(p.reversed_at, excluded.reversed_at),
    position = excluded.position
