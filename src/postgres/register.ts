import { createDeadline } from '../deadline.ts'
import type { Found, Registered, RegistrationRequest } from '../registry/store.ts'
import { createUuidGenerator } from '../uuid.ts'
import { toArrayLiteral } from './array-literal.ts'
import type { Database, Send } from './connection.ts'
import { planRows, type RowPlan } from './new-rows.ts'
import { toKey } from './path.ts'
import type { Statements } from './statements.ts'
import { inZones, NOTHING, toColumns, toRegistration, type ZoneFindings } from './zone-transaction.ts'

interface Registering {
  readonly database: Database
  readonly statements: Statements
  /** Milliseconds for a call. */
  readonly timeLimit: number
  /** Whether there is nothing to push new registrations to. */
  readonly synchronized: boolean
}

/**
 * Makes the store's way to register. Where the call before found none of its registrable domains, a guess says that
 * this one finds none either, for calls of a bulk are alike: the insert goes out right behind the look-ups, and the
 * server leaves it out if they find one. So new names need not wait for answers, and a wrong guess costs an insert of
 * nothing.
 */
export function createRegister({ database, statements, timeLimit, synchronized }: Registering) {
  const createId = createUuidGenerator()
  let expectsNothing = true

  return async (request: RegistrationRequest): Promise<Registered> => {
    const { teamId, registrableDomains, wildcardBases, decide } = request
    const question = {
      registrableDomains,
      names: request.names.map(toKey),
      bases: wildcardBases.map(toKey),
      teamId,
    }

    function create(found: Found): Registered {
      const now = Date.now()
      const saved = decide(found).map(({ domain, registrableDomain }) => ({
        domainId: createId(now),
        domain,
        registrableDomain,
        teamId,
        synchronized,
      }))
      return { found, saved }
    }

    async function guess(send: Send): Promise<Registered | undefined> {
      if (!expectsNothing) return undefined
      const created = create({ registrations: [], below: wildcardBases.map(() => NOTHING) })
      const plan = planRows(created.saved, registrableDomains, [])
      // So many names below one registrable domain fill it, and there is more to be done than to insert them.
      if (plan.joined.length > 0) return undefined
      insert(plan, true, send)
      return created
    }

    function save({ zones, names, below }: ZoneFindings, send: Send, guessed?: Registered) {
      expectsNothing = zones.length === 0
      if (guessed && expectsNothing) return guessed
      const created = create({ registrations: names.map(toRegistration), below })
      const plan = planRows(created.saved, registrableDomains, zones)
      if (plan.left.length > 0) void send(statements.moveGuestsOut, toArrayLiteral(plan.left))
      insert(plan, false, send)
      if (plan.occupied.length > 0) {
        const [zonesOccupied] = toColumns(plan.occupied)
        void send(statements.occupyZones, zonesOccupied, toIds(plan.occupied), teamId, synchronized)
      }
      if (plan.joined.length > 0) void send(statements.markCrowds, toArrayLiteral(plan.joined))
      return created
    }

    function insert({ inserted, crowded }: RowPlan, isGuess: boolean, send: Send): void {
      if (inserted.length === 0) return
      const guests = toArrayLiteral(inserted.map(({ guestPath }) => guestPath))
      const crowds = toArrayLiteral(crowded)
      const columns = toColumns(inserted)
      void send(statements.insertNames, ...columns, guests, toIds(inserted), teamId, synchronized, crowds, isGuess)
    }

    return inZones(database, statements, createDeadline(timeLimit), question, save, guess)
  }
}

const toIds = (rows: readonly { readonly domainId: string }[]) => toArrayLiteral(rows.map(({ domainId }) => domainId))
