CREATE SCHEMA IF NOT EXISTS "domain_registration";
CREATE TABLE IF NOT EXISTS "domain_registration".names (
  domain_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  second_level_domain text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (second_level_domain, path)
);
CREATE UNIQUE INDEX IF NOT EXISTS names_by_id ON "domain_registration".names (domain_id);
CREATE INDEX IF NOT EXISTS names_of_team ON "domain_registration".names (team_id, domain_id);
CREATE INDEX IF NOT EXISTS names_within ON "domain_registration".names (registrable_domain, path) WHERE domain <> registrable_domain;
CREATE INDEX IF NOT EXISTS names_of_team_within ON "domain_registration".names (registrable_domain, team_id, path) WHERE path > '';
CREATE INDEX IF NOT EXISTS names_of_team_below ON "domain_registration".names (second_level_domain, team_id, path)
  WHERE registrable_domain <> second_level_domain;
CREATE TABLE IF NOT EXISTS "domain_registration".changes (
  domain_id uuid NOT NULL,
  due timestamptz NOT NULL,
  since timestamptz NOT NULL,
  sweeps integer NOT NULL DEFAULT 0,
  refusals integer NOT NULL DEFAULT 0,
  line text COLLATE "C" NOT NULL GENERATED ALWAYS AS (CASE WHEN refusals > 0 THEN 'refused'
    WHEN sweeps < 3 THEN 'new' ELSE 'failed' END) STORED,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('registered', 'released')),
  second_level_domain text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  last_failure text,
  follows uuid,
  PRIMARY KEY (domain_id, second_level_domain)
);
CREATE INDEX IF NOT EXISTS changes_following ON "domain_registration".changes (follows) WHERE follows IS NOT NULL;
CREATE INDEX IF NOT EXISTS changes_next ON "domain_registration".changes (line, due) WHERE follows IS NULL AND line > '';
CREATE INDEX IF NOT EXISTS changes_next_of_team ON "domain_registration".changes (line, team_id, due)
  WHERE follows IS NULL AND team_id > '';
DROP INDEX IF EXISTS "domain_registration".changes_due;
DROP INDEX IF EXISTS "domain_registration".changes_of_team;
UPDATE "domain_registration".changes AS change SET follows = NULL WHERE follows IS NOT NULL AND NOT EXISTS (
  SELECT FROM "domain_registration".changes AS followed
  WHERE followed.domain_id = change.follows AND followed.second_level_domain = change.second_level_domain
    AND followed.kind = 'registered'
);
CREATE TABLE IF NOT EXISTS "domain_registration".locks (
  second_level_domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  PRIMARY KEY (second_level_domain, registrable_domain)
);
CREATE TABLE IF NOT EXISTS "domain_registration".monitor (
  id integer PRIMARY KEY CHECK (id = 1),
  since timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS "domain_registration".keys (
  hash text COLLATE "C" PRIMARY KEY,
  type text NOT NULL CHECK (type IN ('organization', 'team')),
  owner_id text NOT NULL,
  scopes text[] NOT NULL,
  label text,
  hint text,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  expires_at timestamptz
);
CREATE INDEX IF NOT EXISTS keys_of_owners ON "domain_registration".keys (owner_id);
CREATE TABLE IF NOT EXISTS "domain_registration".waiting (
  team_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  last_tried timestamptz NOT NULL,
  due timestamptz NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  refusal text NOT NULL,
  PRIMARY KEY (team_id, domain)
);
CREATE INDEX IF NOT EXISTS waiting_due ON "domain_registration".waiting (due, team_id);
CREATE TABLE IF NOT EXISTS "domain_registration".version (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO "domain_registration".version (version) VALUES (2) ON CONFLICT DO NOTHING
