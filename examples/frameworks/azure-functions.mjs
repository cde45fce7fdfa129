/**
 * Turns a request of Azure Functions, which is not a `Request`, into one, and the response into theirs. Azure's paths
 * begin with /api:
 *
 *     const handle = domainsHandler({ store, keys, path: '/api/v1/domains' })
 *     const handler = createHandler(handle)
 *     app.http('domains', { route: 'v1/domains', methods: ['POST'], authLevel: 'anonymous', handler })
 */
export const createHandler =
  handle =>
  async ({ url, method, headers, body }) => {
    const response = await handle(new Request(url, { method, headers, body, duplex: 'half' }))
    return { status: response.status, headers: response.headers, body: response.body }
  }
