-- What a key is limited to (NULL: no such limit), and which riding facts it is believed (ADR 0014).
ALTER TABLE keys
    ADD COLUMN kinds text[],
    ADD COLUMN stages text[],
    ADD COLUMN customers text[],
    ADD COLUMN reads_addresses boolean NOT NULL DEFAULT true,
    ADD COLUMN riding text CHECK (riding IN ('all', 'own', 'none'));
COMMENT ON COLUMN keys.customers IS 'Customer ids, or beginnings of them that end with *.';
COMMENT ON COLUMN keys.riding IS 'NULL: all with the scope facts, own without it.';
