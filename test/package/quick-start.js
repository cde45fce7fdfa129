/**
 * Runs every block of docs/quick-start.md in an empty folder, in the order of the page, in one shell and with the packed
 * package: programs are saved as `server.ts`, and a server runs until the next one starts. Compares what the page
 * promises. Of blocks in tabs, only the first one runs. Needs Debian's postgresql-client, for `psql`.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../postgres/server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'quick-start-'))
const page = readFileSync(join(root, 'docs/quick-start.md'), 'utf8').replaceAll(
  /<!-- tabs -->.*?(```.*?^```$).*?<!-- \/tabs -->/gms,
  '$1',
)
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }))

const findFreePort = () =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Functions that stand for what a reader does in two terminals. */
const prelude = `
set -euo pipefail
KEY= PID= MONITOR=
trap 'kill $PID $MONITOR 2> /dev/null || true' EXIT
# Waits for the first line of a program's output.
listening() { for _ in $(seq 600); do grep -q . "$1" && return; kill -0 "$2" || break; sleep 0.1; done; cat "$1" >&2; exit 1; }
serve() {
  if [ -n "$PID" ]; then kill "$PID"; wait "$PID" || true; fi
  node server.ts > server.log 2>&1 & PID=$!
  listening server.log "$PID"
}
monitor() { PORT=$MONITOR_PORT node monitor.ts > monitor.log 2>&1 & MONITOR=$!; listening monitor.log "$MONITOR"; }
curl() { command curl --silent --show-error "$@"; echo; }
`

/** The commands of the page, with this run's package, database, ports and key. */
function toCommands(text, { tarball, url, port, monitorPort }) {
  return (
    text
      .replace('domain-registration express', `${tarball} express`)
      .replaceAll('postgres://localhost/app', url)
      .replaceAll('localhost:3000', `localhost:${port}`)
      .replaceAll('localhost:4000', `localhost:${monitorPort}`)
      .replaceAll('svc_team_1_…', '$KEY')
      .replaceAll(/^node server\.ts$/gm, 'serve')
      .replaceAll(/^PORT=4000 node monitor\.ts$/gm, 'monitor')
      .replaceAll(
        /^(npx domain-registration keys create .*)$/gm,
        "$1 > key.log\nKEY=$(grep -oE 'svc_team_\\w+' key.log)",
      )
      // Single quotes would keep the key from being inserted.
      .replaceAll(/'Authorization: Bearer \$KEY'/g, '"Authorization: Bearer $KEY"')
  )
}

const database = await startServer()
try {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
      cwd: root,
      encoding: 'utf8',
    }),
  )
  const { host, port, user, password } = database.config
  const settings = {
    tarball: join(scratch, filename),
    url: `postgres://${user}:${password}@${host}:${port}/postgres`,
    port: await findFreePort(),
    monitorPort: await findFreePort(),
  }
  const script = blocks.map(({ language, text }, index) =>
    language === 'sh'
      ? `echo "== ${index}"\n${toCommands(text, settings)}`
      : `cat > server.ts << 'END OF PROGRAM'\n${text}END OF PROGRAM\n`,
  )
  const folder = join(scratch, 'empty')
  mkdirSync(folder)
  writeFileSync(join(scratch, 'script.sh'), prelude + script.join(''))
  const { status, stdout, stderr } = spawnSync('bash', [join(scratch, 'script.sh')], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PORT: String(settings.port),
      MONITOR_PORT: String(settings.monitorPort),
      JOURNAL: join(scratch, 'changes.ndjson'),
      // Node 20 cannot run TypeScript.
      NODE_OPTIONS: `--import ${import.meta.resolve('tsx')}`,
      // The page must set what it uses.
      DATABASE_URL: '',
      MONITOR_URL: '',
      WEBHOOK_SECRET: '',
    },
  })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  const responses = [...stdout.matchAll(/^\{"data":\{.*$|^\{"error":.*$/gm)].map(([line]) => JSON.parse(line))
  const statuses = responses.map(({ data, error }) => error ?? data.results.map(({ status }) => status).join())
  const expected = ['created,created,invalid', 'created', 'domain_registration_unavailable', 'existing']
  assert.deepEqual(statuses, expected, stdout)
  assert.match(stdout, /\{"[\w-]+":"www\.example\.com"\}/, 'the monitor watches the name')
  console.log(`docs/quick-start.md: ${blocks.length} blocks run in order in an empty folder`)
} finally {
  await database.stop()
  rmSync(scratch, { recursive: true, force: true })
}
