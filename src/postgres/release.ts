import { classifyHostname } from '../hostname/classify.ts'
import type { Registration } from '../registry/store.ts'
import { toPlaceholders } from './claim.ts'
import { claimAndFind } from './find.ts'
import { addReleases } from './outbox.ts'
import { remove, takeBack } from './remove.ts'
import { toRegistration } from './rows.ts'
import type { Statements } from './statements.ts'
import type { Transact } from './transaction.ts'

/**
 * Makes {@link PostgresStore.release}: claim, look, record what is to be pushed, delete.
 *
 * @param lease Milliseconds for which a registration may be under way to be pushed; `null` where there is nothing to
 *   push to.
 */
export function createRelease(transact: Transact, statements: Statements, lease: number | null) {
  return async (teamId: string, domains: readonly string[]): Promise<readonly Registration[]> => {
    const hostnames = domains.map(classifyHostname).filter(hostname => hostname.valid)
    const names = [...new Map(hostnames.map(hostname => [hostname.domain, hostname])).values()]
    if (names.length === 0) return []
    return transact({
      find: (send, engine) => claimAndFind(send, statements, toPlaceholders(names), { names }, engine),
      save(found, send) {
        const released = found.names.filter(row => row.team_id === teamId)
        if (lease !== null) addReleases(send, statements, released, lease)
        remove(send, statements, released)
        takeBack(send, statements, found.fresh)
        return released.map(toRegistration)
      },
    })
  }
}
