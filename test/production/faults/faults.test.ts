import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { counts, sample, seed } from '../../counts.ts'
import { installedProxies, type ProxyName } from '../../proxies.ts'
import { waitFor } from '../../wait-for.ts'
import { faults } from './faults.ts'
import { createWorld, PROMETHEUS, type World } from './world.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 })
const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8')

const rows = new Map(
  [...runbook.matchAll(/^\| ([^|]+?) \| [^|]+ \| ([^|]+?) \|/gm)].map(([, row, alerts]) => [row, alerts]),
)
test.each(faults.map(({ fault, row, alert }) => [fault, row, alert]))(
  'the runbook has a row for "%s", "%s", with its alert',
  (_, row = '', alert = '') => {
    expect(rows.has(row)).toBe(true)
    if (!alert.startsWith('no: ')) expect(rows.get(row)).toContain(alert.replace('DomainRegistration', ''))
  },
)

const proxy = installedProxies[seed % installedProxies.length]
const isMissing = proxy === undefined || !existsSync(PROMETHEUS)
const name = 'under a running service, an alert fires, `doctor` says it, and all is well again without a hand'
describe.skipIf(isMissing)(
  isMissing
    ? `${name}: skipped, because Prometheus or a proxy is not installed (Debian: apt-get install prometheus nginx)`
    : name,
  () => {
    let world: World
    beforeAll(async () => {
      world = await createWorld(proxy as ProxyName)
    })
    afterAll(() => world.end())

    /** Waits until calls succeed, nothing is pending, no alert fires, and `doctor` finds nothing. */
    async function untilWell(): Promise<void> {
      await waitFor(
        async () => {
          world.statuses()
          await sleep(1500)
          expect([...world.statuses()]).toEqual([200])
          expect(await world.firing()).toEqual([])
        },
        { timeout: 240_000, interval: 500 },
      )
      expect(await world.doctor()).toMatchObject({ code: 0 })
    }

    for (const { fault, alert, doctor, skipped, make, undo } of sample(faults, counts.faults))
      test.skipIf(skipped)(skipped ? `${fault}: skipped, because ${skipped}` : fault, async () => {
        await untilWell()
        await make(world)
        try {
          if (alert.startsWith('no: ')) await sleep(15_000)
          else
            await waitFor(async () => expect(await world.firing()).toContain(alert), {
              timeout: 180_000,
              interval: 500,
            })
          const said = await world.doctor()
          if (String(doctor).startsWith('no: ')) expect(said).toMatchObject({ code: 0 })
          else expect(said.text).toMatch(doctor)
        } finally {
          await undo(world)
        }
        await untilWell()
      })
  },
)
