import { createRequire } from 'node:module'

/** The version of the package. */
export const readVersion = (): string =>
  (createRequire(import.meta.url)('domain-registration/package.json') as { version: string }).version
