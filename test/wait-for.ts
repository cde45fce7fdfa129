import { vi } from 'vitest'
import { PATIENCE } from './patience.ts'

/**
 * Waits until a check passes, for nearly as long as a test may take: how fast a machine is does not matter. If the
 * check never passes, the test fails with the reason. `vi.waitFor` itself waits for one second.
 */
export const waitFor = <Value>(
  check: () => Value | Promise<Value>,
  { timeout = PATIENCE, interval = 20 } = {},
): Promise<Value> => vi.waitFor(check, { timeout, interval })
