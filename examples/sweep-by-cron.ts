import { createHash, timingSafeEqual } from 'node:crypto'
import type { ManagedStore } from 'domain-registration'

/** Answers the request of a schedule: sweeps until nothing more goes through, for half a minute at most. */
export function createSweep(store: ManagedStore, secret: string | undefined) {
  if (!secret) throw new Error('Set CRON_SECRET')
  const expected = digest(`Bearer ${secret}`)
  return async (request: Request): Promise<Response> => {
    // In constant time: the time of the response must not tell how much of the secret is right.
    if (!timingSafeEqual(digest(request.headers.get('Authorization') ?? ''), expected))
      return new Response(null, { status: 401 })
    const signal = AbortSignal.timeout(30_000) // less than your platform gives a function
    while ((await store.synchronizePending({ signal })).synchronized > 0);
    return Response.json(await store.pendingStats())
  }
}

/** Of equal length for all texts, as timingSafeEqual requires. */
const digest = (text: string) => createHash('sha256').update(text).digest()
