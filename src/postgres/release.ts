import { classifyHostname } from '../hostname/classify.ts'
import type { Registration } from '../registry/store.ts'
import { toPlaceholders } from './claim.ts'
import { claimAndFind } from './find.ts'
import { remove, takeBack } from './remove.ts'
import { toRegistration } from './rows.ts'
import type { Statements } from './statements.ts'
import type { Transact } from './transaction.ts'

/** Makes {@link PostgresStore.release}: claim, look, delete. */
export function createRelease(transact: Transact, statements: Statements) {
  return async (teamId: string, domains: readonly string[]): Promise<readonly Registration[]> => {
    const hostnames = domains.map(classifyHostname).filter(hostname => hostname.valid)
    const names = [...new Map(hostnames.map(hostname => [hostname.domain, hostname])).values()]
    if (names.length === 0) return []
    return transact({
      find: (send, engine) => claimAndFind(send, statements, toPlaceholders(names), { names }, engine),
      save(found, send) {
        const released = found.names.filter(row => row.team_id === teamId)
        remove(send, statements, released)
        takeBack(send, statements, found.fresh)
        return released.map(toRegistration)
      },
    })
  }
}
