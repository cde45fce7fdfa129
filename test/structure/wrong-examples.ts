// What the test of examples must find.

/**
 * @example
 * createMemoryStore({ team: [] })
 *
 * @example <caption>A promise's value, without `await`</caption>
 * const { key } = generateApiKey({ type: 'team', id: '1' })
 *
 * @example
 * registerDomain(keyContext, body, store)
 *
 * @example
 * import { domainRouter } from 'domain-registration/express'
 *
 * @example <caption>A method that the host does not have</caption>
 * await pool.querry('SELECT')
 */
export interface Wrong {
  /**
   * @example
   * countTotals([{ status: 'made' }])
   *
   * @example <caption>What the package exports is imported as a whole or not at all</caption>
   * import { createMemoryStore } from 'domain-registration'
   *
   * const store = createMemoryStore()
   * startSynchronizing(store)
   */
  member: string
}
