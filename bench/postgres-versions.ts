/**
 * Compares PostgreSQL 15, or the oldest installed version, with PostgreSQL 18. The statements measured take two arrays,
 * and are slow if the server looks up every pair of the arrays' values.
 */
import type { Pool } from 'pg'
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { findInstalledPostgres, NOT_INSTALLED } from '../test/postgres/installed.ts'
import { startServer } from '../test/postgres/server.ts'
import { compare, keyContext, newNames, passOver, report, team, time } from './measure.ts'

const SCHEMA = 'domain_registration'
const THOUSAND = 1000

const installed = findInstalledPostgres() ?? (await passOver(NOT_INSTALLED))
const servers = [await startServer([], installed.programs), await startServer()]
const [old, current] = (await Promise.all(
  servers.map(server => open(server.createPool({ max: 1, pipeline: true }))),
)) as [Side, Side]
const rounds = { warmUp: 5, rounds: 20 }

const versionsCall = await compare(newNames, { warmUp: 50, rounds: 100 }, old.register, current.register)
const versionsSweep = await compare(saveThousand, rounds, old.sweep, current.sweep)
const versionsRelease = await compare(saveThousand, rounds, old.release, current.release)

await Promise.all(servers.map(server => server.stop()))
report({ versionsCall, versionsSweep, versionsRelease })

type Side = Awaited<ReturnType<typeof open>>

async function open(database: Pool) {
  await migrate({ database })
  const store = createPostgresStore({ database, findTeam: () => team, synchronize: () => {} })
  return {
    /** Registers names and pushes them. */
    register: (domains: readonly string[]) => time(() => registerDomains(keyContext, { domains }, store)),
    /** Registers names and leaves them to a sweep. */
    async save(domains: readonly string[]): Promise<void> {
      for (let start = 0; start < domains.length; start += 100)
        await registerDomains(keyContext, { domains: domains.slice(start, start + 100) }, store)
      await database.query(
        `INSERT INTO ${SCHEMA}.changes
           (domain_id, due, since, kind, second_level_domain, domain, registrable_domain, team_id)
         SELECT domain_id, now(), now(), 'registered', second_level_domain, domain, registrable_domain, team_id
         FROM ${SCHEMA}.names WHERE domain = ANY ($1)`,
        [domains],
      )
    },
    async sweep(): Promise<number> {
      let synchronized = 0
      const spent = await time(async () => {
        synchronized = (await store.synchronizePending({ limit: THOUSAND })).synchronized
      })
      if (synchronized !== THOUSAND) throw new Error(`The sweep pushed ${synchronized} changes`)
      return spent
    },
    async release(domains: readonly string[]): Promise<number> {
      let released = 0
      const spent = await time(async () => {
        released = (await store.release(team.id, domains)).length
      })
      if (released !== THOUSAND) throw new Error(`${released} names were released`)
      await database.query(`DELETE FROM ${SCHEMA}.changes`)
      return spent
    },
  }
}

async function saveThousand(): Promise<string[]> {
  const domains = newNames(THOUSAND)
  await Promise.all([old.save(domains), current.save(domains)])
  return domains
}
