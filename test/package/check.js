/**
 * Checks the package as its users get it. Packs the package, inspects the tarball, and runs publint and attw on the
 * tarball. Then installs the package into two tiny projects, one with `import` and one with `require`, which compile
 * and run.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../free-port.ts'
import { findDefinitions } from './definitions.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'domain-registration-'))
const run = (command, parameters, cwd) =>
  execFileSync(command, parameters, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const bin = (directory, name) => join(directory, 'node_modules', '.bin', name)
const [typescript7, typescript] = ['typescript7', 'typescript'].map(name =>
  join(root, 'node_modules', name, 'bin', 'tsc'),
)
/** The oldest one that the documentation names. */
const oldest = bin(here, 'tsc')
/**
 * Which compilers check the types under which `module`. `preserve` resolves imports as `nodenext` does in an ES module,
 * so one compiler tries it; `blocks.js` has another.
 */
const compilers = {
  cjs: { node16: [typescript7, oldest], nodenext: [typescript7, typescript] },
  esm: { node16: [typescript7, oldest], nodenext: [typescript7, typescript], preserve: [typescript7] },
}

try {
  const [{ filename, files, size }] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], root),
  )
  const tarball = join(scratch, filename)
  const paths = files.map(file => file.path)
  const needed = [
    ...[
      'LICENSE',
      'THIRD-PARTY-NOTICES',
      'src/hostname/idna/unicode-license.txt',
      'README.md',
      'AGENTS.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'custom-elements.json',
      'package.json',
      'dist/index.js',
      'dist/index.cjs',
    ],
    ...['dist/types/esm/index.d.ts', 'dist/types/esm/index.d.ts.map', 'dist/types/cjs/index.d.ts'],
    ...['dist/types/cjs/package.json', 'SECURITY.md', 'src/index.ts'],
  ]
  assert.deepEqual(
    needed.filter(path => !paths.includes(path)),
    [],
    'missing in the tarball',
  )
  const ofUse = [
    /^dist\/[\w-]+\.c?js$/,
    /^dist\/types\/(?:esm|cjs)\/(?:[\w-]+\/)*[\w-]+\.d\.ts(?:\.map)?$/,
    /^src\/(?:[\w-]+\/)*[\w-]+(?:\.d)?\.ts$/,
    /^docs\/(?:recipes\/)?[\w-]+\.md$/,
    /^docs\/pictures\/[\w-]+\.(?:svg|png)$/,
    /^examples\/(?:(?:callers|element|frameworks|landing)\/)?[\w-]+\.(?:tsx?|vue|svelte|mjs|txt|sql|yml)$/,
    /^examples\/production\/[\w-]+(?:\.(?:ts|sql|yaml|md|conf|cfg))?$/,
    /^examples\/nextjs\/(?:[\w.[\]-]+\/)*[\w.-]+\.(?:tsx?|md)$/,
  ]
  const ofNoUse = paths.filter(path => !needed.includes(path) && !ofUse.some(pattern => pattern.test(path)))
  assert.deepEqual(ofNoUse, [], 'the files in the tarball that no user needs')
  console.log(`${filename}: ${paths.length} files, ${Math.round(size / 1024)} kB packed`)

  const notices = run('tar', ['-xzOf', tarball, 'package/THIRD-PARTY-NOTICES'], scratch)
  const bundle = run('tar', ['-xzOf', tarball, 'package/dist/element.js'], scratch)
  for (const [trace, owner] of [
    ['lit$', 'Copyright (c) 2017 Google LLC'],
    ['Overflow: input needs wider integers to process', 'Copyright Mathias Bynens'],
  ]) {
    assert.ok(bundle.includes(trace), `dist/element.js no longer contains ${trace}`)
    assert.ok(notices.includes(owner), `THIRD-PARTY-NOTICES lacks ${owner}`)
  }
  assert.match(notices, /UNICODE LICENSE V3/)

  console.log(run(bin(here, 'publint'), ['--strict', tarball], here).trim())
  console.log(run(bin(here, 'attw'), ['--profile', 'node16', '--no-color', tarball], here).trim())

  for (const consumer of ['cjs', 'esm']) {
    const project = join(scratch, consumer)
    cpSync(join(here, 'consumers', 'shared'), project, { recursive: true })
    cpSync(join(here, 'consumers', consumer), project, { recursive: true })
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--no-save', '--prefer-offline', '--engine-strict', tarball],
      project,
    )
    // The command for a client in TypeScript: it generates types from the API's document.
    const printed = `JSON.stringify(require('domain-registration/openapi').openapi())`
    writeFileSync(join(project, 'openapi.json'), run(process.execPath, ['--print', printed], project))
    run(bin(here, 'openapi-typescript'), ['openapi.json', '--output', 'api.d.ts'], project)
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false']
    for (const [module, used] of Object.entries(compilers[consumer]))
      for (const compiler of used)
        run(
          compiler,
          ['--noEmit', ...strict, '--target', 'es2022', '--module', module, 'program.ts', 'api.d.ts'],
          project,
        )
    requireDefinitionsInSource(project)
    console.log(`${consumer}: ${run(process.execPath, ['program.js'], project).trim()}`)
  }
  compareBillOfMaterials(tarball, join(scratch, 'materials'))
  await followReadme(tarball, join(scratch, 'start'))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Checks that the SBOM of a release lists exactly the installed packages with their versions. */
function compareBillOfMaterials(tarball, folder) {
  const workflow = readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8')
  const [, commands] = /run: \|\n((?: {10}.*\n)+?) {6}- /.exec(workflow.slice(workflow.indexOf('npm sbom') - 400))
  mkdirSync(folder)
  run('bash', ['-ec', commands.replaceAll('../domain-registration-*.tgz', tarball)], folder)
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'))
  const listed = components.map(({ name, version }) => `${name}@${version}`)
  const installed = []
  const visit = ({ dependencies = {} }) => {
    for (const [name, dependency] of Object.entries(dependencies)) {
      // An optional peer dependency that is not installed has no version.
      if (dependency.version) installed.push(`${name}@${dependency.version}`)
      visit(dependency)
    }
  }
  visit(JSON.parse(run('npm', ['ls', '--all', '--json'], join(folder, 'installed'))))
  assert.ok(installed.length > 1)
  assert.deepEqual(listed.toSorted(), [...new Set(installed)].toSorted(), 'the packages in the bill of materials')
  console.log(`The bill of materials lists ${listed.length} packages`)
}

/** Checks that "Go to definition" leads to the package's code, for each export of each entry. */
function requireDefinitionsInSource(project) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.keys(exports).filter(entry => entry !== './package.json')
  const definitions = findDefinitions(
    project,
    entries.map(entry => entry.replace('.', 'domain-registration')),
  )
  assert.ok(definitions.length > entries.length)
  const source = join(project, 'node_modules', 'domain-registration', 'src')
  assert.deepEqual(
    definitions.filter(({ name, path, text }) => !path.startsWith(source) || text !== name),
    [],
    'not defined in src',
  )
}

/**
 * Follows the README in an empty folder, first in JavaScript and then in TypeScript, with the tarball as the package.
 * Compares each response, except for IDs, with the README.
 */
async function followReadme(tarball, folder) {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, install] = /run `(npm init .+?)` in an empty folder/.exec(readme)
  const [, start] = /Run `(.+?)`, and paste its output/.exec(readme)
  const [, file, program] = /Save this as `([\w.]+)`:.*?```js\n(.*?)```/s.exec(readme)
  const [, typedFile, installTypes, startTyped] =
    /In TypeScript, save the program as `([\w.]+)`.*?`(npm install .+?) && (npx .+?)`/s.exec(readme)
  const [, answer] = /```json\n(.*?)```/s.exec(readme)
  assert.ok(install.includes('npm install domain-registration '))

  mkdirSync(folder)
  run('bash', ['-ec', install.replace('npm install domain-registration ', `npm install ${tarball} `)], folder)
  writeFileSync(join(folder, file), program)
  await compareAnswer(folder, start, answer)

  run('bash', ['-ec', installTypes], folder)
  writeFileSync(join(folder, typedFile), program)
  run(
    typescript7,
    ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', '--skipLibCheck', typedFile],
    folder,
  )
  await compareAnswer(folder, startTyped, answer)
  console.log('README: its commands and its program give its answer, in JavaScript and in TypeScript')
}

/** Starts a server, and runs the command that it prints. */
async function compareAnswer(folder, start, answer) {
  const env = { ...process.env, PORT: String(await findFreePort()) }
  const stdio = ['ignore', 'pipe', 'inherit']
  const server = spawn('bash', ['-c', `exec ${start}`], { cwd: folder, env, stdio, detached: true })
  const exit = once(server, 'exit')
  try {
    let printed = ''
    for await (const text of server.stdout.setEncoding('utf8')) {
      printed += text
      if (printed.endsWith(`'\n`)) break
    }
    const withoutIds = json => JSON.parse(json, (name, value) => (name === 'domainId' ? typeof value : value))
    assert.deepEqual(withoutIds(run('bash', ['-ec', printed], folder)), withoutIds(answer))
  } finally {
    process.kill(-server.pid) // the whole group, including the processes of npx
    await exit
  }
}
