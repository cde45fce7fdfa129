import { type ManagedStore, registerDomains } from '../../src/index.ts'

/** A process that makes the calls it is sent. Its parameter is a module with `openStore`. */
const { openStore } = (await import(process.argv[2] ?? '')) as { openStore(...parameters: string[]): ManagedStore }
let store: ManagedStore

type Message =
  | { readonly call: 'open'; readonly parameters: readonly string[] }
  | { readonly call: 'register' | 'release'; readonly team: string; readonly domains: readonly string[] }

process.on('message', async (message: Message) => process.send?.(await answer(message)))
process.send?.('ready')

async function answer(message: Message) {
  if (message.call === 'open') {
    store = openStore(...message.parameters)
    return 'open'
  }
  const { call, team, domains } = message
  return call === 'register' ? register(team, domains) : store.release(team, domains)
}

async function register(teamId: string, domains: readonly string[]) {
  const keyContext = { type: 'team', teamId, scopes: ['domains:create'] } as const
  const { results } = (await registerDomains(keyContext, { domains }, store)).data
  return results.map(result => (result.status === 'invalid' ? result.code : result.status))
}
