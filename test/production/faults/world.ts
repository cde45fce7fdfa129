import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { chmod, chown, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import pg from 'pg'
import { parse, stringify } from 'yaml'
import { verifyWebhook } from '../../../src/webhook/index.ts'
import { findFreePort } from '../../free-port.ts'
import { mountSmall } from '../../mount-small.ts'
import { createFaultyNetwork, type FaultyNetwork } from '../../postgres/faulty-network.ts'
import { findInstalledPostgres } from '../../postgres/installed.ts'
import { createMortalServer, type MortalServer } from '../../postgres/mortal-server.ts'
import { configurations, type ProxyName, startProxy } from '../../proxies.ts'
import { createCaller, secret } from '../programs.ts'
import { canMount } from './machine.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
export const PROMETHEUS = '/usr/bin/prometheus'
/** Alerts wait for minutes. Here, each minute takes this many seconds. */
const SECONDS_OF_A_MINUTE = 3
export const APP = { user: 'app', password: 'password' }

/** What the monitor responds to a request with these teams and names. */
export type MonitorMode = (
  changes: readonly { teamId: string; domain: string }[],
) => number | 'silence' | Promise<number>
export const accepts: MonitorMode = () => 204

/** A service as `examples/production` has it: two replicas behind a proxy, a monitor, PostgreSQL, and Prometheus. */
export interface World {
  /** The folder of all files. */
  readonly folder: string
  readonly database: MortalServer
  /** Between the replicas and the database. */
  readonly network: FaultyNetwork
  /** As a superuser, past the network. */
  query(text: string): Promise<readonly Record<string, unknown>[]>
  readonly monitor: { mode: MonitorMode; secret: string; readonly server: Server; readonly port: number }
  readonly replicas: { child: ChildProcess; readonly port: number }[]
  /** Ends the connections of the replicas, as a failover or a restart of a pooler does. */
  endConnections(): Promise<void>
  /** Kills a replica if it still runs, and starts it again. */
  restart(index: number, how?: StartOptions): Promise<void>
  /** The certificate of the monitor or of the database from now on. */
  certify(server: 'monitor' | 'database', certificate: 'valid' | 'expired'): Promise<void>
  /** Whether replicas and `doctor` can find the addresses of the database and of the monitor. */
  resolve(state: 'answers' | 'away'): void
  /** Installs another version of `tldts` for the next start of a replica, and for `doctor`. */
  installSuffixList(name: 'tldts' | 'tldts-old'): void
  /** The folder of the database's disk, if this user may mount one. */
  readonly disk: string | undefined
  /** Statuses of the calls that arrived since the last question. */
  statuses(): ReadonlySet<unknown>
  firing(): Promise<readonly string[]>
  /** Runs `doctor` as the role of the replicas. */
  doctor(): Promise<{ code: number; text: string }>
  end(): Promise<void>
}

export interface StartOptions {
  /** The file of the log. */
  readonly output?: string
  readonly env?: Readonly<Record<string, string>>
}

const NAMES = ['monitor.test', 'database.test']
/** Starts a program for which the files "hosts" and "resolv.conf" of this folder are those of the machine. */
const WITH_HOSTS = [
  ...['unshare', '--mount', 'sh', '-c'],
  'mount --bind hosts /etc/hosts && mount --bind resolv.conf /etc/resolv.conf && exec "$0" "$@"',
]

export async function createWorld(proxy: ProxyName): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'faults-'))
  await chmod(folder, 0o755)
  const ends: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })]
  await install(folder)

  await makeCertificates(folder)
  const certificateOf = (name: string) => readFileSync(join(folder, `${name}.pem`))
  const key = certificateOf('key')

  const database = await createMortalServer([], findInstalledPostgres()?.programs)
  ends.push(() => database.remove())
  await database.start()
  const network = await createFaultyNetwork({ host: '127.0.0.1', port: Number(database.config.port) })
  ends.push(() => network.goDown())
  /** A connection for each query, because faults end connections, or use them up. */
  async function query(text: string) {
    const client = new pg.Client(database.config)
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows ?? []
    } finally {
      await client.end().catch(() => {})
    }
  }
  await query(`CREATE ROLE ${APP.user} LOGIN PASSWORD '${APP.password}'`)
  const [setting] = await query("SELECT current_setting('data_directory') AS data, version()")
  console.info(`Behind ${proxy}, with ${setting?.version}`)
  const data = String(setting?.data)
  const owner = await stat(data)
  const own = (path: string) => chown(path, owner.uid, owner.gid)
  const disk = canMount ? mountSmall(100_000_000) : undefined
  if (disk) {
    ends.unshift(disk.unmount)
    await own(disk.folder)
    await query(`CREATE TABLESPACE disk LOCATION '${disk.folder}'`)
  }
  await query(`CREATE DATABASE service OWNER ${APP.user} ${disk ? 'TABLESPACE disk' : ''}`)
  database.config.database = 'service'

  const monitor = await startMonitor({ key, cert: certificateOf('valid') })
  async function certify(server: 'monitor' | 'database', name: 'valid' | 'expired') {
    const cert = certificateOf(name)
    if (server === 'monitor') {
      monitor.server.setSecureContext({ key, cert })
      return monitor.server.closeAllConnections()
    }
    for (const [file, content] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
      await writeFile(join(data, file), content, { mode: 0o600 })
      await own(join(data, file))
    }
    await query('SELECT pg_reload_conf()')
  }
  await certify('database', 'valid')
  await query('ALTER SYSTEM SET ssl = on')
  await query('SELECT pg_reload_conf()')

  /** Starts a program as on a machine of its own. */
  const withHosts = (...command: readonly string[]) =>
    (canMount ? [...WITH_HOSTS, ...command] : command) as [string, ...string[]]
  function resolve(state: 'answers' | 'away') {
    const names = state === 'answers' ? NAMES : []
    writeFileSync(join(folder, 'hosts'), ['localhost', ...names].map(name => `127.0.0.1 ${name}\n`).join(''))
  }
  resolve('answers')
  await writeFile(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n')
  const [monitorName, databaseName] = canMount ? NAMES : ['127.0.0.1', '127.0.0.1']
  const verified = `sslmode=verify-full&sslrootcert=${join(folder, 'valid.pem')}`
  const environment = {
    ...process.env,
    DATABASE_URL: `postgres://${APP.user}:${APP.password}@${databaseName}:${network.port}/service?${verified}`,
    WEBHOOK_SECRET: secret,
    NODE_EXTRA_CA_CERTS: join(folder, 'valid.pem'),
  }
  ends.push(
    () => monitor.server.closeAllConnections(),
    () => monitor.server.close(),
  )

  const settings = { ...environment, WEBHOOK_URL: `https://${monitorName}:${monitor.port}/`, DRAIN: '0' }
  function spawnReplica(port: number, path: string, env: StartOptions['env']): ChildProcess {
    const output = openSync(path, 'a')
    const [program, ...parameters] = withHosts(process.execPath, 'server.mjs')
    const child = spawn(program, parameters, {
      cwd: folder,
      env: { ...settings, PORT: String(port), CALLS_PER_MINUTE: '1000000', ...env },
      stdio: ['ignore', output, output],
    })
    closeSync(output)
    return child
  }
  const replicas: World['replicas'] = []
  let isOver = false
  ends.push(() => {
    isOver = true
    for (const { child } of replicas) child.kill('SIGKILL')
  })
  /** Starts a replica. When it ends, it is started again, as by `restart: unless-stopped` of compose.yaml. */
  async function startReplica(port: number, { output, env }: StartOptions = {}): Promise<ChildProcess> {
    const path = output ?? join(folder, `replica-${port}.log`)
    const child = spawnReplica(port, path, env)
    child.once('exit', async () => {
      const replica = replicas.find(each => each.child === child)
      await sleep(100)
      if (!isOver && replica?.child === child) replica.child = await startReplica(port)
    })
    while (!(await answers(`http://127.0.0.1:${port}/ready`))) {
      if (child.exitCode !== null) throw new Error(readFileSync(path, 'utf8'))
      await sleep(100)
    }
    return child
  }
  for (let index = 0; index < 2; index += 1) {
    const port = await findFreePort()
    replicas.push({ port, child: await startReplica(port) })
  }

  const { socketPath, end: endProxy } = await startProxy(proxy, configurations[proxy], {
    '127.0.0.1:3001': `127.0.0.1:${replicas[0]?.port}`,
    '127.0.0.1:3002': `127.0.0.1:${replicas[1]?.port}`,
  })
  ends.push(endProxy)
  const cli = join(folder, 'node_modules/domain-registration/dist/cli.js')
  function runCli(...command: string[]) {
    const [program, ...parameters] = withHosts(process.execPath, cli, ...command)
    return run(program, parameters, { cwd: folder, env: environment, timeout: 60_000 }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stdout, stderr }) => ({ code: Number(code), text: `${stdout}${stderr}` }),
    )
  }
  await query('INSERT INTO teams (organization_id) VALUES (10), (10)')
  const { text } = await runCli('keys', 'create', '--organization', '10', '--scopes', 'domains:create')
  const callers = startCallers(createCaller({ socketPath }, /svc_org\w*_\w+/.exec(text)?.[0] ?? ''))
  ends.push(callers.end)

  const prometheus = await startPrometheus(
    folder,
    replicas.map(({ port }) => port),
  )
  ends.push(prometheus.end)

  return {
    ...{ folder, database, network, query, monitor, replicas, certify, resolve, disk: disk?.folder },
    installSuffixList(name) {
      const place = join(folder, 'node_modules/tldts')
      unlinkSync(place)
      symlinkSync(join(root, 'node_modules', name), place)
    },
    async endConnections() {
      await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${APP.user}'`)
    },
    async restart(index, how) {
      const replica = replicas[index]
      if (!replica) throw new Error('There is no such replica')
      const { child, port } = replica
      // It is not started twice: `startReplica` looks for the process that has ended.
      replicas.splice(index, 1)
      const exited = child.exitCode === null && child.signalCode === null && once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      replicas.splice(index, 0, { port, child: await startReplica(port, how) })
    },
    statuses: callers.statuses,
    firing: prometheus.firing,
    doctor: () => runCli('doctor'),
    async end() {
      for (const end of ends.reverse()) await end()
    },
  }
}

/** Installs the packed file, and the programs of `examples/production` beside it. */
async function install(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  })
  const [{ filename }] = JSON.parse(stdout)
  await run('tar', ['-xzf', join(folder, filename), '-C', modules])
  await run('mv', [join(modules, 'package'), join(modules, 'domain-registration')])
  const examples = join(modules, 'domain-registration/examples/production')
  await build({
    entryPoints: [join(examples, 'server.ts')],
    outfile: join(folder, 'server.mjs'),
    ...{ bundle: true, format: 'esm', platform: 'node', packages: 'external' },
  })
  await copyFile(join(examples, 'tables.sql'), join(folder, 'tables.sql'))
}

/** A key, and two certificates for it, of which one has expired. */
async function makeCertificates(folder: string): Promise<void> {
  const openssl = (command: string, ...more: string[]) =>
    run('openssl', [...command.split(' '), ...more], { cwd: folder })
  const names = ['IP:127.0.0.1', ...NAMES.map(name => `DNS:${name}`)].join(',')
  await openssl(
    'req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out request.pem',
    ...['-subj', '/CN=test', '-addext', `subjectAltName=${names}`],
  )
  for (const [name, days] of Object.entries({ valid: 2, expired: -1 }))
    await openssl(`x509 -req -in request.pem -key key.pem -copy_extensions copyall -days ${days} -out ${name}.pem`)
}

async function startMonitor(tls: { key: Buffer; cert: Buffer }) {
  const monitor = { mode: accepts, secret, server: createServer(tls), port: 0 }
  monitor.server.on('request', async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const status = await verifyWebhook(request.headers, Buffer.concat(chunks), monitor.secret).then(
      ({ data }) => monitor.mode(data.changes as never),
      ({ message }) => [401, message] as const,
    )
    const [code, text] = Array.isArray(status) ? status : [status, '']
    if (code !== 'silence') response.writeHead(code).end(text)
  })
  monitor.server.listen(0, '127.0.0.1')
  await once(monitor.server, 'listening')
  monitor.port = (monitor.server.address() as { port: number }).port
  return monitor
}

/** Registers two new names of both teams, four times a second, whatever becomes of earlier calls. */
function startCallers(post: ReturnType<typeof createCaller>) {
  let seen = new Set<unknown>()
  let turn = 0
  const start = Date.now().toString(36)
  const timer = setInterval(() => {
    turn += 1
    const domains = [`t${turn}.${start}.example.com`, `t${turn}.${start}.example.org`]
    post(domains, String((turn % 2) + 1)).then(
      ({ status }) => seen.add(status),
      error => seen.add(error.code),
    )
  }, 250)
  return {
    statuses() {
      const now = seen
      seen = new Set()
      return now
    },
    end: () => clearInterval(timer),
  }
}

async function startPrometheus(folder: string, ports: readonly number[]) {
  const rules = readFileSync(join(root, 'examples/alerts.yml'), 'utf8')
    .replace(/(?<=for: |\[)(\d+)m/g, (_, minutes) => `${minutes * SECONDS_OF_A_MINUTE}s`)
    .replace(/(?<=_seconds > )(\d{3,})/g, seconds => String((Number(seconds) / 60) * SECONDS_OF_A_MINUTE))
  if (parse(rules).groups.length === 0) throw new Error('no alerts')
  await writeFile(join(folder, 'alerts.yml'), rules)
  await writeFile(
    join(folder, 'prometheus.yml'),
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [{ job_name: 'service', static_configs: [{ targets: ports.map(port => `127.0.0.1:${port}`) }] }],
    }),
  )
  const port = await findFreePort()
  const child = spawn(
    PROMETHEUS,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  while (!(await answers(`http://127.0.0.1:${port}/-/ready`))) await sleep(100)
  return {
    async firing(): Promise<readonly string[]> {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`)
      const { data } = (await response.json()) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] }
      }
      const names = data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
      return [...new Set(names)].sort()
    },
    async end() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  )
