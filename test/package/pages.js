/**
 * Follows pages as a new user would, in an empty folder and with the packed package: runs every block of
 * docs/quick-start.md, and those of "With Node" in the README of examples/production, in the order of the page and in
 * one shell. Compares what the pages promise. Needs Debian's postgresql-client, for `psql`.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../free-port.ts'
import { startServer } from '../postgres/server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'pages-'))
const read = file => readFileSync(join(root, file), 'utf8')

const findBlocks = page =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }))

/** Functions that stand for a reader, who has several terminals and waits until a program says that it listens. */
const prelude = `
set -euo pipefail
export KEY= PROCESSES=
trap 'kill $PROCESSES 2> /dev/null || true' EXIT
start() { NODE_OPTIONS="$LOADER" "\${@:2}" > "$1" 2>&1 & PROCESSES="$PROCESSES $!"; }
listening() {
  for _ in $(seq 600); do grep -qE '^POST|^curl|"listening"' "$1" && return; sleep 0.1; done
  cat "$1" >&2
  exit 1
}
only() {
  if [ -n "\${ONLY:-}" ]; then kill $ONLY; wait $ONLY || true; fi
  start server.log "$@"
  ONLY=$!
  listening server.log
}
curl() { command curl --silent --show-error "$@"; echo; }
`

const database = await startServer()
const [{ filename }] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
    cwd: root,
    encoding: 'utf8',
  }),
)
const { host, port: databasePort, user, password } = database.config

/**
 * Runs the blocks of a page: commands, and programs, which are saved as `server.ts`.
 *
 * @param standIns Commands in place of those that start a server, by what the page has.
 * @returns What the commands print.
 */
async function follow(page, { name, blocks, standIns }) {
  const folder = join(scratch, name)
  mkdirSync(folder)
  if (name === 'production') cpSync(join(root, 'examples/production'), folder, { recursive: true })
  execFileSync('psql', [
    `postgres://${user}:${password}@${host}:${databasePort}/postgres`,
    '-c',
    `CREATE DATABASE "${name}"`,
  ])
  const [port, secondPort, monitorPort] = [await findFreePort(), await findFreePort(), await findFreePort()]
  const replaced = [
    [/domain-registration express/g, `${join(scratch, filename)} express`],
    [/postgres:\/\/(?:app:secret@)?localhost\/app/g, `postgres://${user}:${password}@${host}:${databasePort}/${name}`],
    [/localhost:3000/g, `localhost:${port}`],
    [/localhost:4000/g, `localhost:${monitorPort}`],
    [/^(npx domain-registration keys create .*)$/gm, "$1 > key.log\nKEY=$(grep -oE 'svc_(org|team)_\\w+' key.log)"],
    // Single quotes would keep the key from being inserted.
    [/'Authorization: Bearer svc_\w+…'/g, '"Authorization: Bearer $KEY"'],
    ...standIns,
  ]
  const commands = blocks.map(({ language, text }) =>
    language === 'sh'
      ? replaced.reduce((commands, [pattern, replacement]) => commands.replaceAll(pattern, replacement), text)
      : `cat > server.ts << 'END OF PROGRAM'\n${text}END OF PROGRAM\n`,
  )
  writeFileSync(join(folder, 'script.sh'), prelude + commands.join(''))
  const { status, stdout, stderr } = spawnSync('bash', ['script.sh'], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      ...{ PORT: String(port), SECOND_PORT: String(secondPort), MONITOR_PORT: String(monitorPort) },
      // For the programs alone, not for npm: Node 20 cannot run TypeScript.
      LOADER: `--import ${import.meta.resolve('tsx')}`,
      // The page must set what it uses.
      ...{ DATABASE_URL: '', MONITOR_URL: '', WEBHOOK_URL: '', WEBHOOK_SECRET: '' },
    },
  })
  assert.equal(status, 0, `${page}:\n${stdout}\n${stderr}`)
  console.log(`${page}: ${blocks.length} blocks run in order in an empty folder`)
  const responses = [...stdout.matchAll(/^\{"(?:data|error)":.*$/gm)].map(([line]) => JSON.parse(line))
  const statuses = responses.map(({ data, error }) => error ?? data.results.map(({ status }) => status).join())
  return { stdout, statuses }
}

try {
  const quickStart = await follow('docs/quick-start.md', {
    name: 'quick-start',
    blocks: findBlocks(read('docs/quick-start.md')),
    standIns: [
      [/^node server\.ts$/gm, 'only node server.ts'],
      [/^PORT=4000 (node monitor\.ts)$/gm, 'start monitor.log env PORT=$MONITOR_PORT $1; listening monitor.log'],
    ],
  })
  const expected = ['created,created,invalid', 'created', 'domain_registration_unavailable', 'existing']
  assert.deepEqual(quickStart.statuses, expected, quickStart.stdout)
  assert.match(quickStart.stdout, /\{"[\w-]+":"www\.example\.com"\}/, 'the monitor watches the name')

  const [, withNode] = /^## With Node$(.*?)^## /ms.exec(read('examples/production/README.md'))
  const production = await follow('examples/production/README.md', {
    name: 'production',
    blocks: findBlocks(withNode),
    standIns: [
      // Two replicas at once, which create the tables.
      [/^(node server\.ts) &$/gm, 'start one.log $1; start two.log env PORT=$SECOND_PORT $1'],
      [
        /^PORT=4000 (node receiver\.ts) &$/gm,
        'start three.log env PORT=$MONITOR_PORT $1; listening one.log; listening two.log; listening three.log',
      ],
    ],
  })
  assert.deepEqual(production.statuses, ['created'], production.stdout)
  assert.match(production.stdout, /www\.example\.com +\| f/, 'the receiver has the name')
  assert.match(production.stdout, /^domains_calls_total\{method="POST",status="200"\} 1$/m)
} finally {
  await database.stop()
  rmSync(scratch, { recursive: true, force: true })
}
