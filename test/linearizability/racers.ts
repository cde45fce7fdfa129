import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { compile } from '../compile.ts'
import { seed } from '../counts.ts'
import { type Program, startProgram } from '../start-program.ts'
import { limits, now, type RacedStore } from './race.ts'
import type { RacerTask, Round } from './racer.ts'
import { type Deed, findFault } from './registry.ts'

/**
 * Several processes that race on one database. Each process has its own connections, so the statements of different
 * processes interleave.
 *
 * @param module The URL of a module whose `openStore` connects with a given config.
 * @param configs One config for each process.
 */
export async function startRacers(module: URL, configs: readonly object[]) {
  const { href } = pathToFileURL(await compile(module))
  const racers = await Promise.all(configs.map(() => startProgram(new URL('racer.ts', import.meta.url), href)))
  await Promise.all(
    configs.map((config, index) => {
      const names = ['A', 'B', 'C'].map(name => `${name}${index}`)
      return racers[index]?.ask({ config, seed: seed + index, names } satisfies RacerTask)
    }),
  )

  /**
   * Checks that the results of each round, together with the registrations after it, are linearizable. With
   * `hasTornReads`, lock-free calls are checked only within each registrable domain, and limits are not checked.
   */
  async function expectOrder(
    store: RacedStore,
    rounds: number,
    { hasTornReads = false }: { readonly hasTornReads?: boolean } = {},
  ): Promise<void> {
    for (let round = 1; round <= rounds; round += 1) {
      // Each set of registrable domains is used in two rounds, so every other round begins with new domains.
      const registrableDomains = ['a.com', 'b.com', 'c.github.io'].map(name => `r${Math.ceil(round / 2)}-${name}`)
      const outcomes = await Promise.all(racers.map(racer => runRound(racer, { registrableDomains, calls: 13 })))
      const listed = await store.list()
      const operation = { kind: 'list' as const, listed }
      const end = { client: 'in the end', operation, startedAt: now(), endedAt: now() }
      const deeds = [...outcomes.flat(), end]
      for (const each of registrableDomains) expect(findFault(deeds, [each]), `round ${round}`).toBeNull()
      const together = hasTornReads ? deeds.filter(deed => deed === end || isLocking(deed)) : deeds
      const all = hasTornReads ? registrableDomains.slice(0, 2) : registrableDomains
      expect(findFault(together, all, hasTornReads ? {} : limits), `round ${round}`).toBeNull()
      for (const { teamId, domain } of listed) await store.release(teamId, [domain])
    }
  }

  return { expectOrder, stop: () => Promise.all(racers.map(racer => racer.kill())) }
}

const isLocking = ({ operation: { kind } }: Deed) => ['register', 'release', 'transfer', 'import'].includes(kind)

async function runRound(racer: Program, round: Round): Promise<readonly Deed[]> {
  const deeds = await racer.ask(round)
  if (typeof deeds === 'string') throw new Error(deeds)
  return deeds as readonly Deed[]
}
