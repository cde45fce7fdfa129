import { rangeBelow, toKey } from '../registry/path.ts'
import type { ListedRegistration } from '../registry/store.ts'
import type { ListPage } from '../registry/store-arguments.ts'
import type { Answer } from './database.ts'
import { FIRST_ID, LAST_ID, type NameRow, toRegistration } from './name-statements.ts'
import { findNames } from './register.ts'
import type { StoreTransaction, Transact } from './transact.ts'

/** Makes {@link StoreBackend.list}. */
export const createList =
  (transact: Transact) =>
  (page: ListPage): Promise<ListedRegistration[]> =>
    transact(async transaction => {
      const { rows } = await askFor(transaction, page)
      return rows.map(toRegistration)
    })

function askFor(transaction: StoreTransaction, page: ListPage): Promise<Answer<NameRow>> {
  if (page.domain !== undefined) return askForName(transaction, page, page.domain)
  if (page.below !== undefined) return askBelow(transaction, page, page.below)
  const { ask, statements } = transaction
  const { teamId, limit, order } = page
  const after = page.after ?? (order === 'oldest' ? FIRST_ID : LAST_ID)
  if (teamId === undefined) return ask(order === 'oldest' ? statements.listOldest : statements.listNewest, after, limit)
  return ask(order === 'oldest' ? statements.listTeamOldest : statements.listTeamNewest, after, limit, teamId)
}

async function askForName(
  transaction: StoreTransaction,
  { teamId, after, limit, order }: ListPage,
  domain: string,
): Promise<Answer<NameRow>> {
  const { rows } = await findNames(transaction, [domain])
  const isAfter = (id: string) => after === undefined || (order === 'oldest' ? id > after : id < after)
  const isListed = (row: NameRow) => (teamId === undefined || row.team_id === teamId) && isAfter(row.domain_id)
  return { rows: rows.filter(isListed).slice(0, limit) }
}

function askBelow(
  { ask, statements }: StoreTransaction,
  { teamId, after, limit }: ListPage,
  below: string,
): Promise<Answer<NameRow>> {
  const { secondLevelDomain } = toKey(below)
  const range = rangeBelow(below)
  const afterPath = after === undefined ? '' : toKey(after).path
  const start = afterPath > range.after ? afterPath : range.after
  const values = [secondLevelDomain, start, range.before, limit]
  if (teamId === undefined) return ask(statements.listBelow, ...values)
  return ask(statements.listTeamBelow, ...values, teamId)
}
