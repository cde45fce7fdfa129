/**
 * Looks up a module of Node that is not imported, because bundlers for the edge refuse the import. `undefined` where
 * there is none: other runtimes have no `process`, and that of Next.js at the edge throws.
 */
export function findBuiltinModule(name: string): unknown {
  try {
    return (globalThis.process.getBuiltinModule as (name: string) => unknown)(name)
  } catch {
    return undefined
  }
}
