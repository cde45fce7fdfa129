/** The servers of `postgres-load.ts`: Express with PostgreSQL, by this package, and by hand without its rules. */
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { domainsRouter } from 'domain-registration/express'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import express from 'express'
import { Pool } from 'pg'
import { parse } from 'tldts'
import { z } from 'zod'
import { keyContext, team } from './measure.ts'

export const path = '/v1/domains'
export const apiKey = `svc_team_${team.id}_${'5'.repeat(64)}`

const hash = createHash('sha256').update(apiKey).digest('hex')

async function ours(database: Pool) {
  await migrate({ database })
  const keys = createPostgresKeyStore({ database })
  await keys.addKey({ hash, type: 'team', ownerId: team.id, scopes: keyContext.scopes })
  return express().use(domainsRouter({ store: createPostgresStore({ database, findTeam: () => team }), keys }))
}

/** Looks up the key, checks the body and the hostnames, and inserts them. Of overlaps, it knows only equal names. */
async function byHand(database: Pool) {
  await database.query(`
    CREATE TABLE keys (hash text PRIMARY KEY, team_id text NOT NULL);
    CREATE TABLE names (domain text COLLATE "C" PRIMARY KEY, id uuid NOT NULL UNIQUE, registrable_domain text NOT NULL,
      team_id text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
    CREATE INDEX ON names (team_id, id)`)
  await database.query('INSERT INTO keys VALUES ($1, $2)', [hash, team.id])
  const schema = z.object({ domains: z.array(z.string().max(255)).min(1).max(100) })
  const insert = `INSERT INTO names (domain, id, registrable_domain, team_id)
    SELECT domain, gen_random_uuid(), registrable_domain, $3
    FROM unnest($1::text[], $2::text[]) AS given (domain, registrable_domain)
    ON CONFLICT (domain) DO NOTHING RETURNING domain, id`
  const app = express().set('etag', false)
  app.post(path, express.json(), async (request, response) => {
    const given = createHash('sha256')
      .update(`${request.get('authorization')?.slice('Bearer '.length)}`)
      .digest('hex')
    const find = { name: 'find', text: 'SELECT team_id FROM keys WHERE hash = $1', values: [given] }
    const [key] = (await database.query(find)).rows
    if (!key) return void response.status(401).end()
    const names = schema.parse(request.body).domains.map(input => parse(input.toLowerCase()))
    const arrays = [names.map(({ hostname }) => hostname), names.map(({ domain }) => domain)]
    const { rows } = await database.query({ name: 'insert', text: insert, values: [...arrays, key.team_id] })
    const results = rows.map(({ domain, id }) => ({ status: 'created', input: domain, domain, domainId: id }))
    response.json({ data: { results, totals: { created: rows.length, existing: 0, invalid: 0 } } })
  })
  return app
}

const [, , name, config] = process.argv
if (config) {
  const database = new Pool(JSON.parse(config))
  const server = (await (name === 'ours' ? ours : byHand)(database)).listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
  })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1000)
  })
}
