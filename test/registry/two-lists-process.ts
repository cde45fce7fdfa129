import { type ManagedStore, registerDomains } from '../../src/index.ts'

/** A process that makes the calls it is sent. Its parameters: a module with `openStore`, and what to pass to that. */
const [, , module = '', ...parameters] = process.argv
const { openStore } = (await import(module)) as { openStore(...parameters: string[]): ManagedStore }
const store = openStore(...parameters)

process.on('message', async ({ call, team, domains }: { call: string; team: string; domains: string[] }) => {
  const answer = call === 'register' ? await register(team, domains) : await store.release(team, domains)
  process.send?.(answer)
})
process.send?.('ready')

async function register(teamId: string, domains: readonly string[]) {
  const keyContext = { type: 'team', teamId, scopes: ['domains:create'] } as const
  const { results } = (await registerDomains(keyContext, { domains }, store)).data
  return results.map(result => (result.status === 'invalid' ? result.code : result.status))
}
