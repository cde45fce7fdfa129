import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createMemoryStore, registerDomains } from 'domain-registration'
import { type Cpu, readCpu, subtract } from './cpu.ts'
import { namesOfCall, teamId, toBody } from './http-calls.ts'

/** `registerDomains` alone, in a process of its own: what a call costs without a framework. */
export interface CoreProcess {
  /** Begins anew, with a store that holds nothing. */
  empty(): Promise<void>
  /**
   * Makes the calls of these numbers, and counts the parsing of their bodies, as part of which garbage is collected as
   * well. Then it parses the same bodies alone, and takes that away: the bare framework parses them too.
   */
  run(first: number, calls: number): Promise<Cpu>
  end(): void
}

interface Message {
  readonly first?: number
  readonly calls: number
}

export function startCoreProcess(): CoreProcess {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--import', 'tsx'] })
  const ask = async (message: Message) => {
    child.send(message)
    return (await once(child, 'message'))[0]
  }
  return {
    empty: () => ask({ calls: 0 }),
    run: (first, calls) => ask({ first, calls }),
    end: () => void child.kill(),
  }
}

/** The other end. */
function serve(): void {
  let store = createStore()

  async function run({ first, calls }: Message): Promise<Cpu | null> {
    if (first === undefined) {
      store = createStore()
      return null
    }
    const texts = Array.from({ length: calls }, (_, call) => toBody(namesOfCall(first + call)).toString())
    const start = readCpu()
    for (const text of texts) {
      const { data } = await registerDomains({ type: 'team', teamId, scopes: ['domains:create'] }, parse(text), store)
      if (data.totals.invalid > 0) throw new Error('A name was refused')
    }
    const registered = readCpu()
    for (const text of texts) parse(text)
    const parsed = readCpu()
    return subtract(subtract(registered, start), subtract(parsed, registered))
  }

  process.on('message', async (message: Message) => process.send?.(await run(message)))
}

const parse = (text: string): unknown => JSON.parse(text)

const createStore = () => createMemoryStore({ teams: [{ id: teamId, organizationId: '1', state: 'active' }] })

const [, script, role] = process.argv
if (script === fileURLToPath(import.meta.url) && role === 'serve') serve()
