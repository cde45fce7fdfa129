/**
 * Looks up a built-in module of Node without importing it, because bundlers for edge runtimes reject the import.
 * Returns `undefined` if there is no such module: other runtimes have no `process`, and in Next.js's edge runtime,
 * using `process` throws.
 */
export function findBuiltinModule(name: string): unknown {
  try {
    return (globalThis.process.getBuiltinModule as (name: string) => unknown)(name)
  } catch {
    return undefined
  }
}
