import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Loads a package of the application: one that is found from the current directory. Nothing if it is not installed. */
export function loadDriver<Driver>(name: string): Driver | undefined {
  const load = createRequire(join(process.cwd(), 'package.json'))
  try {
    load.resolve(name)
  } catch {
    return undefined
  }
  return load(name) as Driver
}
