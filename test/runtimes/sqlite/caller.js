/**
 * Registers names in a file until it is killed. Prints each call when the call begins, and again when it has its
 * result, so both are known even after a kill.
 *
 * Parameters: the file, and a number that is different for each caller.
 */
import { writeSync } from 'node:fs'
import process from 'node:process'
import { registerDomains } from 'domain-registration'
import { createSqliteStore } from 'domain-registration/sqlite'
import { openDatabase } from './databases.js'

const [file, caller] = process.argv.slice(-2)
const team = { id: '1', organizationId: '1', state: 'active' }
const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
const store = createSqliteStore({ database: openDatabase(file), findTeam: () => team, timeLimit: 20_000 })

const print = message => writeSync(1, `${JSON.stringify(message)}\n`)

for (let index = 0; ; index += 1) {
  const call = `${caller}-${index}`
  // Half of the names each have their own registrable domain. The other half share a registrable domain, even with the
  // names of other callers.
  const domains = Array.from({ length: 20 }, (_, n) => (n % 2 ? `n${n}.call-${call}.shared.com` : `n${n}-${call}.com`))
  print({ call, domains })
  const { data } = await registerDomains(keyContext, { domains }, store, {
    onError: error => print({ error: `${error}` }),
  })
  print({ call, ids: data.results.map(result => result.domainId) })
}
