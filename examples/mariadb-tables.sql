-- The tables of mariadb-store.ts. Running this again changes nothing.
-- Names are compared byte by byte, and blanks at the end count: so says the collation, whatever that of the database.
-- Times are milliseconds since 1970, so that no time zone changes them.

-- One row for each registered name.
CREATE TABLE IF NOT EXISTS domain_names (
  domainId CHAR(36) NOT NULL PRIMARY KEY, -- UUID of version 7: in the order of registration
  domain VARCHAR(253) NOT NULL,
  registrableDomain VARCHAR(253) NOT NULL, -- by the suffix list when it was registered
  secondLevelDomain VARCHAR(253) NOT NULL, -- the last two labels, or the IP address
  path VARCHAR(253) NOT NULL, -- the labels before it from right to left: '.b.a' for a.b.example.com
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
  refusals INT NOT NULL DEFAULT 0, -- how often the monitor refused it alone
  isRefused BOOLEAN AS (refusals > 0) STORED, -- sweeps take first what was never refused
  lastFailure VARCHAR(255),
  KEY (isRefused, due)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- A row once anybody pushes. Without one there is no monitor, and a store without a push records no release.
CREATE TABLE IF NOT EXISTS domain_monitor (
  id INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- One row for each registrable domain in which a name was ever registered, and for each team with a limit ('#' and the
-- ID), for calls to lock.
CREATE TABLE IF NOT EXISTS domain_locks (
  registrableDomain VARCHAR(253) NOT NULL PRIMARY KEY
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
