/**
 * Pastes programs of the guides into an empty folder, with the packed package and with the packages that they import.
 * The compiler checks each program, and each program runs, except the ones that the rule `needs` names.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import express from 'express'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from '../../dist/index.js'
import { startServer } from '../postgres/server.ts'
import { findPrograms } from './programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = join(root, 'test/package')
const manifest = join(here, 'blocks')
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'blocks-')))
const run = (command, parameters, cwd) => execFileSync(command, parameters, { cwd, encoding: 'utf8' })

/** Why a program is only compiled. @returns undefined if it runs. */
function needs(program) {
  if (/^export /m.test(program)) return 'a module or framework that loads it'
  if (/from 'mysql2\/promise'/.test(program)) return 'MariaDB'
  if (/from 'node:sqlite'/.test(program) && !process.getBuiltinModule('node:sqlite')) return 'node:sqlite'
  if (/from 'better-sqlite3'/.test(program)) return 'an addon'
  if (/from '@clerk/.test(program)) return 'an account'
  if (/\bdocument\.query/.test(program)) return 'a browser'
  return undefined
}

const programs = findPrograms()
// What the page's table says of better-sqlite3, whose types are not those of `node:sqlite`.
const sqlite = programs.find(({ name }) => name === 'sqlite')
const program = sqlite.program.replace("{ DatabaseSync } from 'node:sqlite'", "Database from 'better-sqlite3'")
programs.push({
  ...sqlite,
  name: 'sqlite, better-sqlite3',
  program: program.replace('new DatabaseSync', 'new Database'),
})

/** Copies the programs of the package that a program imports, and those that they import. */
function copyExamples({ program, folder }) {
  for (const [, file] of program.matchAll(/from '\.\/([\w-]+\.ts)'/g)) {
    const example = readFileSync(join(root, 'examples', file), 'utf8')
    writeFileSync(join(folder, file), example)
    copyExamples({ program: example, folder })
  }
}

/** What programs call: a service with this API, PostgreSQL, and a monitor. */
const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const server = express().use(domainsRouter({ store, keys })).listen(0, '127.0.0.1')
await once(server, 'listening')
const monitor = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
}).listen(0, '127.0.0.1')
const database = await startServer()
const { host, port, user, password } = database.config
const toOrigin = ({ port }) => `http://127.0.0.1:${port}`
const service = {
  DOMAINS_URL: `${toOrigin(server.address())}/v1/domains`,
  API_KEY: key,
  DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/postgres`,
  MONITOR_URL: toOrigin(monitor.address()),
  WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
}

/** Runs a program until it ends or, if it is a server, until it prints its first line. */
async function runProgram({ name, index, folder, program }) {
  const isServer = /\b(?:listen|serve)\(/.test(program)
  const env = { ...process.env, ...service, PORT: '0', DATABASE_FILE: ':memory:', NO_COLOR: '1' }
  const child = spawn(process.execPath, [join(scratch, 'compiled', String(index), 'program.mjs')], { cwd: folder, env })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'])
    child[stream].setEncoding('utf8').on('data', text => {
      output[stream] += text
      if (isServer && stream === 'stdout') child.kill('SIGKILL')
    })
  const [code, signal] = await once(child, 'close')
  assert.ok(code === 0 || (isServer && signal === 'SIGKILL'), `${name}:\n${output.stderr}`)
  const [, shown] = /\/\/ (.*)$/.exec(program.trimEnd().replace(/\n\}+$/, '')) ?? []
  if (shown !== undefined) assert.equal(output.stdout, `${shown}\n`, name)
}

try {
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], root),
  )
  const install = ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefer-offline']
  run('npm', [...install, join(scratch, filename)], manifest)
  symlinkSync(join(manifest, 'node_modules'), join(scratch, 'node_modules'))
  writeFileSync(join(scratch, 'package.json'), '{"type":"module"}')
  writeFileSync(
    join(scratch, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        noEmit: true,
        strict: true,
        allowJs: true,
        target: 'es2022',
        module: 'preserve',
        types: ['node'],
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        experimentalDecorators: true,
      },
      include: ['*/*.ts'],
    }),
  )

  for (const [index, each] of programs.entries()) {
    each.index = index
    each.folder = join(scratch, String(index))
    each.file = `program.${each.language === 'js' ? 'mjs' : 'ts'}`
    mkdirSync(each.folder)
    writeFileSync(join(each.folder, each.file), each.program)
    copyExamples(each)
  }
  assert.ok(programs.length > 30)
  // The newest TypeScript, and the oldest one whose users need no `skipLibCheck`.
  for (const compiler of [join(root, 'node_modules/typescript7'), join(here, 'node_modules/typescript')]) {
    const compiled = spawn(process.execPath, [join(compiler, 'bin/tsc'), '--project', scratch])
    let errors = ''
    compiled.stdout.setEncoding('utf8').on('data', text => {
      errors += text
    })
    await once(compiled, 'close')
    errors = errors.replaceAll(/^(?:.*\/)?(\d+)\/program/gm, (_, index) => programs[index].name)
    assert.equal(errors, '', 'the programs compile')
  }

  // Once for all: `tsx` would take longer to start than most programs take to run.
  await build({
    ...{ entryPoints: programs.map(({ folder, file }) => join(folder, file)), outdir: join(scratch, 'compiled') },
    ...{ outbase: scratch, outExtension: { '.js': '.mjs' }, bundle: true, packages: 'external' },
    ...{ format: 'esm', platform: 'node', target: 'node20.19' },
  })

  for (const each of programs) {
    const reason = needs(each.program)
    if (reason === undefined) await runProgram(each)
    console.log(`${each.name}: ${reason === undefined ? 'runs' : `compiles; needs ${reason}`}`)
  }
} finally {
  server.close()
  server.closeAllConnections()
  monitor.close()
  await database.stop()
  rmSync(scratch, { recursive: true, force: true })
}
