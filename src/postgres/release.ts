import { classifyHostname } from '../hostname/classify.ts'
import { requireRelease } from '../registry/host-arguments.ts'
import type { Registration } from '../registry/store.ts'
import { toPlaceholders } from './claim.ts'
import { claimAndFind } from './find.ts'
import { addReleases } from './outbox.ts'
import { remove, takeBack } from './remove.ts'
import { toRegistration } from './rows.ts'
import type { Transact } from './transaction.ts'

/**
 * Makes {@link PostgresStore.release}: claim, look, record the releases, delete.
 *
 * @param lease Milliseconds that the push of a registration may be under way; `null` without a monitor.
 */
export function createRelease(transact: Transact, lease: number | null) {
  return async (teamId: string, domains: readonly string[]): Promise<readonly Registration[]> => {
    requireRelease(teamId, domains)
    const hostnames = domains.map(classifyHostname).filter(hostname => hostname.valid)
    const names = [...new Map(hostnames.map(hostname => [hostname.domain, hostname])).values()]
    if (names.length === 0) return []
    return transact({
      find: transaction => claimAndFind(transaction, toPlaceholders(names), { names }),
      save(found, transaction) {
        const released = found.names.filter(row => row.team_id === teamId)
        if (lease !== null) addReleases(transaction, released, lease)
        remove(transaction, released)
        takeBack(transaction, found.fresh)
        return released.map(toRegistration)
      },
    })
  }
}
