import { record } from './figures.ts'
import { measure } from './measure.ts'
import { type Row, toRow } from './report.ts'

const module = new URL('hostname-contenders.ts', import.meta.url)

/** `classifyHostname` against what does a part of it, on the same inputs. */
export async function benchHostnames(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [set, goal, others] of [
    ['ascii', '≤ 1.1', ['tldts.parse', 'psl.parse', 'validator.isFQDN', 'new URL']],
    ['international', '≤ 2.5', ['new URL', 'tldts.parse']],
    ['complexScripts', '≤ 2.5', ['new URL']],
    ['addresses', '', ['tldts.parse']],
  ] as const) {
    const [yardstick, ...rest] = others
    const names = [yardstick, 'classifyHostname', ...rest].map(name => `${set}: ${name}`)
    for (const [name, timing] of await measure(module, names)) {
      if (name === 'ascii: classifyHostname') record('ascii', timing.ratio)
      if (name === 'international: classifyHostname') record('international', timing.ratio)
      rows.push(toRow(`hostnames, ${name}`, timing, name.endsWith('classifyHostname') ? goal : ''))
    }
  }
  const [hostile] = await measure(module, ['hostile: classifyHostname'])
  if (hostile) rows.push(toRow('hostnames, a text of the worst found (goal: 100 in 50 ms)', hostile[1], '500 µs'))
  const acceptedAndRejected = ['ascii: classifyHostname', 'rejected: classifyHostname']
  const [, rejected] = await measure(module, acceptedAndRejected)
  if (rejected) rows.push(toRow('hostnames, rejected against accepted: classifyHostname', rejected[1], '≤ 10'))
  return rows
}
