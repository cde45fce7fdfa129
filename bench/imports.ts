import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { record } from './figures.ts'

/**
 * What importing each entry costs: CPU of a new process, beyond that of one that imports nothing. Beside it what the
 * packages cost that the entry imports, imported by themselves. All take turns. Run it with
 * `npm run build && node --import tsx bench/imports.ts`.
 */
const ROUNDS = 15

const root = fileURLToPath(new URL('..', import.meta.url))
const { name: self, exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  name: string
  exports: Record<string, { import?: { default: string } }>
}

interface Imported {
  readonly entry: string
  readonly packages: readonly string[]
}

/** The packages that a built file imports, by way of its chunks too; those that it may ask for later do not count. */
function findPackages(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(file)) return packages
  seen.add(file)
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\b[^'"]*['"]([^'"]+)['"]/gm,
  )) {
    const found = specifier.startsWith('.')
      ? findPackages(new URL(specifier, `file://${file}`).pathname, seen)
      : [specifier]
    for (const one of found) packages.add(one)
  }
  return packages
}

/** Milliseconds of the processor. */
function measureImport(specifiers: readonly string[]): number {
  const program = `
    const before = process.cpuUsage()
    ${specifiers.map(specifier => `await import(${JSON.stringify(specifier)})`).join('\n')}
    const { user, system } = process.cpuUsage(before)
    console.log((user + system) / 1e3)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: root }))
}

const entries: Imported[] = Object.entries(exports).flatMap(([path, conditions]) => {
  const file = conditions.import?.default
  return file ? [{ entry: path.replace('.', self), packages: [...findPackages(`${root}/${file}`)] }] : []
})
const spent = entries.map(() => ({ entry: [] as number[], packages: [] as number[] }))
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, { entry, packages }] of entries.entries()) {
    spent[index]?.entry.push(measureImport([entry]))
    spent[index]?.packages.push(measureImport(packages))
  }
}

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] as number

console.log('CPU of an import, of its packages by themselves, and the median of their ratios')
for (const [index, { entry, packages }] of entries.entries()) {
  const own = spent[index] as (typeof spent)[number]
  const ratio = median(own.entry.map((duration, round) => duration / (own.packages[round] as number)))
  const isCore = entry === self
  if (isCore) record('importCore', ratio)
  const [ownTime, packagesTime] = [own.entry, own.packages].map(times => `${median(times).toFixed(1).padStart(6)} ms`)
  const against = packages.length > 0 ? ratio.toFixed(2) : '    '
  console.log(`${entry.padEnd(32)} ${ownTime}  ${packagesTime}  ${against}  ${packages.join(', ')}`)
}
