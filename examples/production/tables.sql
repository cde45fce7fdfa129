-- The application's own tables; `migrate` creates those of domain-registration. Run this file as one query, which is one
-- transaction: replicas that start at the same time wait for each other, because IF NOT EXISTS does not.
SELECT pg_advisory_xact_lock(hashtext('tables.sql'));

CREATE TABLE IF NOT EXISTS teams (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  organization_id integer NOT NULL,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
  max_domains integer
);

-- What the receiver has seen. A released ID stays released, even if its registration arrives again later.
CREATE TABLE IF NOT EXISTS watched (domain_id text PRIMARY KEY, domain text NOT NULL, is_released boolean NOT NULL);
