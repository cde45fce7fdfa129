import { classifyHostname } from '../hostname/classify.ts'
import type { Name } from '../registry/name.ts'
import { createRegistrationRequest } from '../registry/request.ts'
import { moveOut, toPlaceholders } from './claim.ts'
import { claimAndFind } from './find.ts'
import { type Key, toKey } from './path.ts'
import { remove, takeBack } from './remove.ts'
import { holdsName, type NameRow, toRegistration } from './rows.ts'
import type { Statements } from './statements.ts'
import type { Transact } from './transaction.ts'

/** What a newer Public Suffix List has changed. */
export interface Reclassification {
  /** How many registrations were looked at; one that moved ahead of the walk is looked at twice. */
  readonly examined: number
  /** How many have another registrable domain now, and were moved there. */
  readonly moved: number
  /**
   * Registrations that were left as they are, for you to decide about: what is no hostname that can be registered any
   * longer, such as a name that has become a public suffix; or what is registered a second time, since nobody found
   * it.
   */
  readonly left: readonly { readonly domain: string; readonly domainId: string; readonly teamId: string }[]
}

const ROWS_AT_ONCE = 1000

/** Makes {@link PostgresStore.reclassify}. */
export function createReclassifier(transact: Transact, statements: Statements) {
  return async (): Promise<Reclassification> => {
    let examined = 0
    let moved = 0
    const left: { domain: string; domainId: string; teamId: string }[] = []
    for await (const row of walk()) {
      if (!holdsName(row)) continue
      examined += 1
      const { domain } = toRegistration(row)
      const hostname = classifyHostname(domain)
      if (hostname.valid && hostname.registrableDomain === row.registrable_domain) continue
      if (hostname.valid && (await move(row, hostname))) moved += 1
      else left.push({ domain, domainId: row.domain_id, teamId: row.team_id })
    }
    return { examined, moved, left }
  }

  async function* walk() {
    for (let last: Key = { registrableDomain: '', path: '' }; ; ) {
      const { registrableDomain, path } = last
      const rows = await transact({
        find: send => send(statements.walk, registrableDomain, path, ROWS_AT_ONCE),
        save: found => found,
      })
      yield* rows
      const end = rows.at(-1)
      if (!end) return
      last = { registrableDomain: end.registrable_domain, path: end.path }
    }
  }

  /**
   * Moves a row under its new registrable domain, unless it has been released or something stands in its way there.
   */
  async function move(row: NameRow, name: Name): Promise<boolean> {
    const old = toRegistration(row)
    const request = createRegistrationRequest(row.team_id, [name])
    const { wildcardBases, teamId } = request
    return transact({
      find(send, engine) {
        const question = { names: [old, ...request.names], wildcardBases, teamId }
        return claimAndFind(send, statements, toPlaceholders([old, name]), question, engine)
      },
      save({ heads, fresh, names, below }, send) {
        const isOld = ({ registrable_domain }: NameRow) => registrable_domain === old.registrableDomain
        const held = names.filter(isOld).find(({ domain_id }) => domain_id === old.domainId)
        const registrations = names.filter(each => !isOld(each)).map(toRegistration)
        const mayMove = held !== undefined && request.decide({ registrations, below }).length > 0
        if (mayMove) {
          const to = toKey(name)
          const from = [held.registrable_domain, held.path, held.domain_id]
          if (to.path === '')
            moveOut(
              send,
              statements,
              heads.filter(({ registrable_domain }) => registrable_domain === to.registrableDomain),
            )
          void send(
            to.path === '' ? statements.copyIntoHead : statements.copyName,
            ...from,
            to.registrableDomain,
            to.path,
          )
          remove(send, statements, [held])
        }
        takeBack(send, statements, fresh, mayMove ? [{ ...old, ...name }] : [])
        return mayMove
      },
    })
  }
}
