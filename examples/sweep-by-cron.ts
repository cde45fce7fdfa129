import type { ManagedStore } from 'domain-registration'

/** Answers the request of a schedule: sweeps until nothing more goes through, for half a minute at most. */
export function createSweep(store: ManagedStore, secret: string | undefined) {
  if (!secret) throw new Error('Set CRON_SECRET')
  return async (request: Request): Promise<Response> => {
    if (request.headers.get('Authorization') !== `Bearer ${secret}`) return new Response(null, { status: 401 })
    const signal = AbortSignal.timeout(30_000) // less than your platform gives a function
    while ((await store.synchronizePending({ signal })).synchronized > 0);
    return Response.json(await store.pendingStats())
  }
}
