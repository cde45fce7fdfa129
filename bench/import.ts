/** Compares the cost of importing the package in a new process with the cost of importing only its dependencies. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compare, report } from './measure.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The packages that a built file imports, directly or through its chunks. */
function findPackages(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*['"]([^'"]+)['"]/gm)
  return [...imports].flatMap(([, specifier = '']) =>
    specifier.startsWith('.') ? findPackages(fileURLToPath(new URL(specifier, `file://${file}`))) : [specifier],
  )
}

const toImport = (specifier: string) =>
  `await import('${specifier}'${specifier.endsWith('.json') ? `, { with: { type: 'json' } }` : ''})`

/** CPU time in milliseconds. */
function importAll(specifiers: readonly string[]): number {
  const program = `
    const before = process.cpuUsage()
    ${specifiers.map(toImport).join('\n')}
    const { user, system } = process.cpuUsage(before)
    console.log((user + system) / 1e3)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: root }))
}

const packages = [...new Set(findPackages(`${root}dist/index.js`))]
report({
  import: await compare(
    () => undefined,
    { warmUp: 1, rounds: 10 },
    () => importAll(['domain-registration']),
    () => importAll(packages),
  ),
})
