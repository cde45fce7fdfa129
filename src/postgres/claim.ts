import { toKey } from '../registry/path.ts'
import { toArrayLiteral } from './array-literal.ts'
import type { StoreTransaction } from './transact.ts'

/** @param registrableDomains In ascending order of code units. */
export function claim({ ask, statements }: StoreTransaction, registrableDomains: readonly string[]): Promise<unknown> {
  return ask(
    statements.claim(registrableDomains.length),
    toArrayLiteral(registrableDomains.map(domain => toKey(domain).secondLevelDomain)),
    toArrayLiteral(registrableDomains),
  )
}
