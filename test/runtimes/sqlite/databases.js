/** Opens databases with the runtime's own module: `bun:sqlite` in Bun, `node:sqlite` in Node and Deno. */
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
