/**
 * Looks up a Node module without importing it, because bundlers for the edge reject the import. `undefined` if
 * there is none: other runtimes have no `process`, and the one in Next.js's edge runtime throws.
 */
export function findBuiltinModule(name: string): unknown {
  try {
    return (globalThis.process.getBuiltinModule as (name: string) => unknown)(name)
  } catch {
    return undefined
  }
}
