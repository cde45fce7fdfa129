import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createMemoryStore, registerDomains } from 'domain-registration'
import { namesOfCall, teamId } from './http-calls.ts'

/** `registerDomains` alone, in a process of its own: what a call costs without a framework. */
export interface CoreProcess {
  /** Begins anew, with a store that holds nothing, and collects garbage. */
  restart(): Promise<void>
  /**
   * Makes the calls of these numbers with bodies that were just parsed; the parsing is not counted, for the bare
   * framework parses as well.
   *
   * @returns Milliseconds of the processor, of all threads.
   */
  run(first: number, calls: number): Promise<number>
  end(): void
}

interface Message {
  readonly first?: number
  readonly calls: number
}

export function startCoreProcess(): CoreProcess {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--import', 'tsx', '--expose-gc'] })
  const ask = async (message: Message) => {
    child.send(message)
    return (await once(child, 'message'))[0]
  }
  return {
    restart: () => ask({ calls: 0 }),
    run: (first, calls) => ask({ first, calls }),
    end: () => void child.kill(),
  }
}

/** So few that their bodies are at hand when they are needed, as in a server. */
const PARSED_AHEAD = 10

/** The other end. */
function serve(): void {
  let store = createStore()

  async function run({ first, calls }: Message): Promise<number> {
    if (first === undefined) {
      store = createStore()
      for (let times = 0; times < 3; times += 1) globalThis.gc?.()
      return 0
    }
    const texts = Array.from({ length: calls }, (_, call) => JSON.stringify({ domains: namesOfCall(first + call) }))
    let spent = 0
    while (texts.length > 0) {
      const bodies = texts.splice(0, PARSED_AHEAD).map(text => JSON.parse(text))
      const before = process.cpuUsage()
      for (const body of bodies) {
        const { data } = await registerDomains({ type: 'team', teamId, scopes: ['domains:create'] }, body, store)
        if (data.totals.invalid > 0) throw new Error('A name was refused')
      }
      const { user, system } = process.cpuUsage(before)
      spent += (user + system) / 1e3
    }
    return spent
  }

  process.on('message', async (message: Message) => process.send?.(await run(message)))
}

const createStore = () => createMemoryStore({ teams: [{ id: teamId, organizationId: '1', state: 'active' }] })

const [, script, role] = process.argv
if (script === fileURLToPath(import.meta.url) && role === 'serve') serve()
