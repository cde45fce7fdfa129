/**
 * Compares registering 100 new names in the memory store with `tldts.parse`, which does a part of the classification.
 */
import { createMemoryStore, registerDomains } from 'domain-registration'
import { parse } from 'tldts'
import { compare, keyContext, newNames, report, team, time } from './measure.ts'

const store = createMemoryStore({ teams: [team] })

async function register(domains: readonly string[]): Promise<number> {
  const spent = await time(() => registerDomains(keyContext, { domains }, store))
  const released = await store.release(team.id, domains)
  if (released.length !== domains.length) throw new Error('The names were not new')
  return spent
}

const parseAll = (domains: readonly string[]) =>
  time(() => {
    for (const domain of domains) parse(domain)
  })

report({ memory: await compare(newNames, { warmUp: 2000, rounds: 2000 }, register, parseAll) })
