import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { afterEach, expect, test, vi } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { createWebhook } from '../../src/webhook/index.ts'
import { counts, isLong } from '../counts.ts'
import { createStore, team1 } from '../fixtures.ts'
import { listen } from '../listen.ts'
import { findFreePort } from '../postgres/free-port.ts'

const MOST_LINES = 60
/** Milliseconds. */
const MINUTE = 60_000
const AT_ONCE = 20

afterEach(() => void vi.restoreAllMocks())

test(`many calls that get 503 because the monitor is unavailable write at most ${MOST_LINES} lines to the log`, {
  timeout: 3 * MINUTE,
}, async ({ onTestFinished }) => {
  const shown = vi.spyOn(console, 'error').mockImplementation(() => {})
  const logs = () => shown.mock.calls.map(texts => texts.join(' '))
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}/changes`
  const synchronize = createWebhook({ url, secret: `whsec_${btoa('x'.repeat(24))}` })
  const app = express().use(domainsRouter({ store: createStore({ synchronize }), authenticate: () => team1 }))
  const { origin, close } = await listen(app)
  onTestFinished(close)

  let sent = 0
  async function callOneByOne(): Promise<number[]> {
    const statuses: number[] = []
    while (sent < counts.callsWithoutMonitor) {
      sent += 1
      const headers = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ domains: [`www.n${sent}.com`] })
      const response = await fetch(`${origin}/v1/domains`, { method: 'POST', headers, body })
      await response.text()
      statuses.push(response.status)
    }
    return statuses
  }
  const statuses = (await Promise.all(Array.from({ length: AT_ONCE }, callOneByOne))).flat()

  expect([statuses.length, new Set(statuses)]).toEqual([counts.callsWithoutMonitor, new Set([503])])
  // A minute after the last failure, all failures of the first minute have been logged.
  if (isLong) await sleep(MINUTE + 1_000)
  expect(logs()[0]).toMatch(
    RegExp(`^[\\d-]+T[\\d:.]+Z domain-registration: .+ failed \\(.*monitor 127\\.0\\.0\\.1:${port}\\): .*ECONNREFUSED`),
  )
  const lines = logs().join('\n').split('\n')
  expect(lines.length).toBeLessThanOrEqual(MOST_LINES)
  const more = logs().flatMap(text => /and (\d+) more in the last minute/.exec(text)?.[1] ?? [])
  if (isLong) expect(more.reduce((sum, number) => sum + Number(number), 1)).toBe(counts.callsWithoutMonitor)
})
