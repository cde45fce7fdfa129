import { measure } from './measure.ts'
import { type Row, toRow } from './report.ts'

const module = new URL('hostname-contenders.ts', import.meta.url)

/** `classifyHostname` against what does a part of it, on the same inputs. */
export async function benchHostnames(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [set, others] of [
    ['ascii', ['psl.parse', 'validator.isFQDN', 'new URL']],
    ['international', ['new URL']],
    ['addresses', []],
  ] as const) {
    const names = ['tldts.parse', 'classifyHostname', ...others].map(name => `${set}: ${name}`)
    for (const [name, timing] of await measure(module, names)) {
      const goal = name === 'ascii: classifyHostname' ? '≤ 1.0' : ''
      rows.push(toRow(`hostnames, ${name}`, timing, goal))
    }
  }
  const acceptedAndRejected = ['ascii: classifyHostname', 'rejected: classifyHostname']
  const [, rejected] = await measure(module, acceptedAndRejected)
  if (rejected) rows.push(toRow('hostnames, rejected against accepted: classifyHostname', rejected[1], '≤ 10'))
  return rows
}
