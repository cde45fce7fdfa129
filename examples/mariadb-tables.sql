-- The tables of mariadb-store.ts. Running this again changes nothing.
-- The collation compares names byte by byte, including blanks at the end, even if the database has another collation.
-- Times are milliseconds since 1970, so they do not depend on a time zone.

-- One row for each registered name.
CREATE TABLE IF NOT EXISTS domain_names (
  domainId CHAR(36) NOT NULL PRIMARY KEY, -- UUID of version 7, which sorts in the order of registration
  domain VARCHAR(253) NOT NULL,
  registrableDomain VARCHAR(253) NOT NULL, -- according to the suffix list at the time of registration
  secondLevelDomain VARCHAR(253) NOT NULL, -- the last two labels, or the IP address
  path VARCHAR(253) NOT NULL, -- the labels before those, from right to left: '.b.a' for a.b.example.com
  teamId VARCHAR(255) NOT NULL,
  createdAt BIGINT NOT NULL,
  UNIQUE KEY (secondLevelDomain, path),
  KEY (teamId, domainId),
  KEY (secondLevelDomain, teamId, path)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Changes that have not reached the monitor yet. A registration without a row is synchronized.
CREATE TABLE IF NOT EXISTS domain_changes (
  domainId CHAR(36) NOT NULL PRIMARY KEY,
  domain VARCHAR(253) NOT NULL,
  registrableDomain VARCHAR(253) NOT NULL,
  teamId VARCHAR(255) NOT NULL,
  kind VARCHAR(10) NOT NULL, -- 'registered' or 'released'
  at BIGINT NOT NULL,
  due BIGINT NOT NULL, -- when a sweep may push it
  refusals INT NOT NULL DEFAULT 0, -- how often the monitor refused it as the only change in a push
  sweeps INT NOT NULL DEFAULT 0, -- how many sweeps have taken it
  -- What sweeps do with it; see "lineOf".
  line VARCHAR(7) AS (CASE WHEN refusals > 0 THEN 'refused' WHEN sweeps < 3 THEN 'new' ELSE 'failed' END) STORED,
  lastFailure VARCHAR(255),
  KEY (line, due)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Has a row once any store has pushed. As long as it is empty, there is no monitor, and a store without `synchronize`
-- does not record releases.
CREATE TABLE IF NOT EXISTS domain_monitor (
  id INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- Rows that calls lock: one for each registrable domain in which a name was ever registered, and one for each team with
-- a limit ('#' and the team's ID).
CREATE TABLE IF NOT EXISTS domain_locks (
  registrableDomain VARCHAR(253) NOT NULL PRIMARY KEY
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
