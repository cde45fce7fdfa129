import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createMemoryStore, registerDomains } from 'domain-registration'
import { namesOfCall, teamId } from './http-calls.ts'

/** `registerDomains` alone, in a process of its own: what a call costs without a framework. */
export interface CoreProcess {
  /**
   * Makes the calls twice with a new store, first with new names and then with existing ones.
   *
   * @returns Milliseconds of the processor for a call, of all threads: of both passes.
   */
  measure(calls: number): Promise<readonly [fresh: number, existing: number]>
  end(): void
}

export function startCoreProcess(): CoreProcess {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--import', 'tsx'] })
  return {
    async measure(calls) {
      child.send(calls)
      return (await once(child, 'message'))[0]
    },
    end: () => void child.kill(),
  }
}

/** The other end. */
async function run(calls: number): Promise<number[]> {
  const store = createMemoryStore({ teams: [{ id: teamId, organizationId: '1', state: 'active' }] })
  const spent: number[] = []
  for (let pass = 0; pass < 2; pass += 1) {
    const bodies = Array.from({ length: calls }, (_, call) =>
      JSON.parse(JSON.stringify({ domains: namesOfCall(call) })),
    )
    const before = process.cpuUsage()
    for (const body of bodies) {
      const { data } = await registerDomains({ type: 'team', teamId, scopes: ['domains:create'] }, body, store)
      if (data.totals.invalid > 0) throw new Error('A name was refused')
    }
    const { user, system } = process.cpuUsage(before)
    spent.push((user + system) / 1e3 / calls)
  }
  return spent
}

const [, script, role] = process.argv
if (script === fileURLToPath(import.meta.url) && role === 'serve') {
  process.on('message', async (calls: number) => process.send?.(await run(calls)))
}
