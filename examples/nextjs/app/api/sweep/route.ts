import { getRegistry } from '../../registry'
import { createSweep } from '../../sweep-by-cron'

let sweep: ReturnType<typeof createSweep> | undefined

export function GET(request: Request): Promise<Response> {
  sweep ??= createSweep(getRegistry().store, process.env.CRON_SECRET)
  return sweep(request)
}
