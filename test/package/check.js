/**
 * Checks the package as its users get it: packs it, looks at what is in the tarball, lets publint and attw judge it,
 * and installs it into two tiny projects, one with `import` and one with `require`, which compile and run.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'domain-registration-'))
const run = (command, parameters, cwd) =>
  execFileSync(command, parameters, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const bin = (directory, name) => join(directory, 'node_modules', '.bin', name)

try {
  const [{ filename, files, size }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', scratch], root))
  const tarball = join(scratch, filename)
  const paths = files.map(file => file.path)
  const needed = [
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'package.json',
    'dist/index.js',
    'dist/index.cjs',
    'dist/index.d.ts',
  ]
  assert.deepEqual(
    needed.filter(path => !paths.includes(path)),
    [],
    'missing in the tarball',
  )
  const ofNoUse = paths.filter(path => !needed.includes(path) && !/^dist\/[\w-]+\.(?:js|cjs|d\.ts|d\.cts)$/.test(path))
  assert.deepEqual(ofNoUse, [], 'of no use in the tarball')
  console.log(`${filename}: ${paths.length} files, ${Math.round(size / 1024)} kB packed`)

  console.log(run(bin(here, 'publint'), ['--strict', tarball], here).trim())
  console.log(run(bin(here, 'attw'), ['--profile', 'node16', '--no-color', tarball], here).trim())

  const consumers = readdirSync(join(here, 'consumers'))
  assert.deepEqual(consumers, ['cjs', 'esm'])
  for (const consumer of consumers) {
    const project = join(scratch, consumer)
    cpSync(join(here, 'consumers', consumer), project, { recursive: true })
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--no-save', '--prefer-offline', '--engine-strict', tarball],
      project,
    )
    for (const resolution of [
      ['--module', 'node16'],
      ['--module', 'nodenext'],
      ['--module', 'preserve'],
    ]) {
      run(bin(root, 'tsc'), ['--noEmit', '--strict', '--skipLibCheck', 'false', ...resolution, 'program.ts'], project)
    }
    console.log(`${consumer}: ${run(process.execPath, ['program.js'], project).trim()}`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
