import { createHash, timingSafeEqual } from 'node:crypto'
import type { ManagedStore } from 'domain-registration'

/** Sweeps when a scheduler requests it, and again as long as pushes succeed, for at most half a minute. */
export function createSweep(store: ManagedStore, secret: string | undefined) {
  if (!secret) throw new Error('Set CRON_SECRET')
  const expected = digest(`Bearer ${secret}`)
  return async (request: Request): Promise<Response> => {
    // In constant time: the response time must not reveal how much of the secret matches.
    if (!timingSafeEqual(digest(request.headers.get('Authorization') ?? ''), expected))
      return new Response(null, { status: 401 })
    const signal = AbortSignal.timeout(30_000) // shorter than your platform's limit for a function
    while ((await store.synchronizePending({ signal })).synchronized > 0);
    return Response.json(await store.pendingStats())
  }
}

/** Hashes have equal length, as timingSafeEqual requires. */
const digest = (text: string) => createHash('sha256').update(text).digest()
