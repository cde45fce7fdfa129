/** Opens databases with what the runtime has: Bun's own module, or that of Node, which Deno has too. */
export const openDatabase = globalThis.Bun
  ? await import('bun:sqlite').then(
      ({ Database }) =>
        file =>
          new Database(file),
    )
  : await import('node:sqlite').then(
      ({ DatabaseSync }) =>
        file =>
          new DatabaseSync(file),
    )
