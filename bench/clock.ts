/** How long `npm test` takes, after `npm ci`. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { report, time } from './measure.ts'

const cwd = fileURLToPath(new URL('..', import.meta.url))
const spent = await time(() => execFileSync('npm', ['test'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] }))
report({ clock: spent / 1000 })
