import { expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { submitForCodes } from '../../src/testing/calls.ts'
import { openDatabase } from './server.ts'

test.each(['LATIN1', 'WIN1252', 'KOI8R', 'EUC_JP', 'SQL_ASCII', 'UTF8'])(
  'names and wildcards can be registered in a database with the encoding %s',
  async encoding => {
    const server = await openDatabase({}, { encoding })
    const pool = server.createPool({ pipeline: true })
    await migrate({ database: pool })
    const store = createPostgresStore({
      database: pool,
      findTeam: id => ({ id, organizationId: '1', state: 'active' }),
    })
    expect(await submitForCodes(store, '1', ['*.example.com', '*.b.example.org', 'zürich.example.net'])).toEqual(
      Array(3).fill('created'),
    )
    expect(await submitForCodes(store, '1', ['*.example.org', '*.example.net', 'a.example.com'])).toEqual([
      'subdomain_conflict',
      'subdomain_conflict',
      'wildcard_conflict',
    ])
    expect(await submitForCodes(store, '2', ['*.example.org', '*.example.net'])).toEqual(
      Array(2).fill('domain_already_licensed'),
    )
    await server.stop()
  },
)
