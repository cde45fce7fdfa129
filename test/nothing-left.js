/**
 * Runs scripts of `package.json` one after another until one fails. Also fails if a process or a file that they created
 * is left at the end:
 *
 *     node test/nothing-left.js build check "test:engine -- --partitions 8"
 *
 * The scripts after `--then` begin when those before it have ended. `--beside` separates lists, of which two run at the
 * same time: whenever a list ends, the next one begins. Each line of output then begins with the name of its script.
 * After a failure, what is running ends, but no further script begins. At the end, the seconds of each script are
 * listed.
 *
 * The scripts get their own temporary folder. A process belongs to the run if this folder is in its environment or
 * parameters, or is its working directory (PostgreSQL overwrites its environment). Once the scripts have ended, this
 * program reports the processes and files that remain. It ends these processes and removes the folder, even if it gets
 * a signal to end.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PREFIX = 'test-run-'
/** Milliseconds that a process may take to end after SIGTERM. */
const GRACE = 2000
const PAUSE = 50
/**
 * Caches that tools leave in a temporary folder for their next run, and temporary files of SQLite: it deletes each as
 * soon as it has opened it, so one is left only by a process that was killed in between.
 */
const EXPECTED = /^(?:tsx-\d+|node-compile-cache|etilqs_[0-9a-f]+)$/

/** Creates the temporary folder of a run. */
function createFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)))
  // If this process runs as root, PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755)
  return folder
}

/** The processes of a run, except the current process. */
async function findProcesses(folder) {
  const all = existsSync('/proc/self/environ') ? listProc() : await listPs()
  return all.filter(({ pid, traces }) => pid !== process.pid && traces.includes(folder))
}

function listProc() {
  const read = action => {
    try {
      return action().toString().replaceAll('\0', ' ').trim()
    } catch {
      return '' // The process has ended, or belongs to another user.
    }
  }
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => {
      const command = read(() => readFileSync(`/proc/${name}/cmdline`))
      const environment = read(() => readFileSync(`/proc/${name}/environ`))
      const directory = read(() => readlinkSync(`/proc/${name}/cwd`))
      return { pid: Number(name), command, traces: `${command} ${environment} ${directory}` }
    })
}

async function listPs() {
  // `ps` runs twice: with environments, to find the processes, and without, to show their commands.
  const [traces, commands] = await Promise.all([ps('axeww'), ps('axww')])
  return [...commands].map(([pid, command]) => ({ pid, command, traces: traces.get(pid) ?? '' }))
}

async function ps(flags) {
  const { stdout } = await promisify(execFile)('ps', [flags, '-o', 'pid=,command='], { maxBuffer: 2 ** 26 })
  return new Map([...stdout.matchAll(/^ *(\d+) (.*)$/gm)].map(([, pid, text]) => [Number(pid), text]))
}

/** Waits until no process remains, but at most `patience` milliseconds. Resolves to the processes that remain. */
async function findRemaining(folder, patience) {
  for (const deadline = Date.now() + patience; ; await sleep(PAUSE)) {
    const left = await findProcesses(folder)
    if (left.length === 0 || Date.now() > deadline) return left
  }
}

/** Ends the processes of a run, first with SIGTERM and then with SIGKILL, and removes its folder. */
async function clear(folder) {
  signal(await findProcesses(folder), 'SIGTERM')
  for (let left = await findRemaining(folder, GRACE); left.length > 0; left = await findRemaining(folder, GRACE)) {
    signal(left, 'SIGKILL')
  }
  for (const disk of findDisks(folder)) execFileSync('umount', ['-l', disk])
  rmSync(folder, { recursive: true, force: true })
}

/** The small disks below a folder that tests have mounted, and that a signal kept them from unmounting. */
function findDisks(folder) {
  if (!existsSync('/proc/mounts')) return []
  const mounts = readFileSync('/proc/mounts', 'utf8').matchAll(/^\S+ (\S+)/gm)
  return [...mounts].map(([, disk]) => disk).filter(disk => disk.startsWith(`${folder}/`))
}

function signal(processes, name) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has already ended.
    }
  }
}

/** Reports and removes the processes and files that a run left. Resolves to the number of processes and files. */
async function settle(folder) {
  const processes = await findRemaining(folder, GRACE)
  const files = readdirSync(folder).filter(name => !EXPECTED.test(name))
  for (const { pid, command } of processes) console.error(`Left running: ${pid} ${command}`)
  for (const file of files) console.error(`Left behind: ${join(folder, file)}`)
  await clear(folder)
  return processes.length + files.length
}

/** The parts of a list before, between and after a separator. */
function split(parameters, separator) {
  const end = parameters.indexOf(separator)
  return end < 0 ? [parameters] : [parameters.slice(0, end), ...split(parameters.slice(end + 1), separator)]
}

async function runScripts(parameters) {
  const folder = createFolder()
  const env = { ...process.env, TMPDIR: folder }
  let interruption
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      interruption ??= clear(folder)
    })
  }
  let status = 0
  const results = []

  async function runList(scripts, isAlone) {
    for (const script of scripts) {
      if (status !== 0 || interruption) return
      const begin = performance.now()
      const [name] = script.split(' ')
      const stdio = isAlone ? 'inherit' : ['inherit', 'pipe', 'pipe']
      const child = spawn(`npm run --silent ${script}`, { shell: true, stdio, env })
      for (const [input, write] of [
        [child.stdout, console.log],
        [child.stderr, console.error],
      ])
        if (input) createInterface({ input }).on('line', line => write(`${name} | ${line}`))
      const closed = once(child, 'close')
      const own = (await once(child, 'exit'))[0] ?? 1
      status ||= own
      // What the script has left running may keep its output open.
      await Promise.race([closed, sleep(GRACE, undefined, { ref: false })])
      const result = `npm run ${name}: exit status ${own}, ${((performance.now() - begin) / 1000).toFixed(1)} s`
      results.push(result)
      console.error(result)
    }
  }

  for (const phase of split(parameters, '--then')) {
    const lists = split(phase, '--beside')
    const isAlone = lists.length === 1
    const runLists = async () => {
      while (lists.length > 0) await runList(lists.shift(), isAlone)
    }
    await Promise.all([runLists(), runLists()])
  }
  if (interruption) {
    await interruption
    process.exit(1)
  }
  const count = await settle(folder)
  console.error(`\n${results.join('\n')}`)
  if (count === 0) console.error('Nothing is left running, and no file left behind.')
  process.exit(status === 0 && count > 0 ? 1 : status)
}

/**
 * The global setup of Vitest, for runs that this program did not start. Starts a second process, which waits until this
 * one has ended or was killed, and then removes all that is left.
 */
export function setup() {
  if (basename(tmpdir()).startsWith(PREFIX)) return
  const folder = createFolder()
  process.env.TMPDIR = folder
  const stdio = ['pipe', 'ignore', 'inherit']
  const program = fileURLToPath(import.meta.url)
  const guard = spawn(process.execPath, [program, '--clear-after-us', folder], { detached: true, stdio })
  guard.unref()
  guard.stdin.unref()
}

async function clearAfterParent(folder) {
  process.stdin.resume()
  await once(process.stdin, 'end')
  await settle(folder)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, ...rest] = process.argv.slice(2)
  if (first === '--clear-after-us') await clearAfterParent(rest[0])
  else await runScripts([first, ...rest])
}
