-- Signatures that do not cover the body: each of their tokens is taken for one body only.

CREATE TABLE webhook_tokens (
    partition integer NOT NULL,
    provider text NOT NULL,
    token_hash bytea NOT NULL,
    body_hash bytea NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (partition, provider, token_hash)
);
COMMENT ON TABLE webhook_tokens IS 'Tokens of webhook signatures that cover no body, and the body that each came with first.';
CREATE INDEX webhook_tokens_old ON webhook_tokens (partition, seen_at);
