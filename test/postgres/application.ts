/**
 * An application that registers and releases names in transactions of its own, as a process that can be stopped: run by
 * `attacked-applications.test.ts`.
 */
import { Client, type PoolConfig } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { registerDomains } from '../../src/register-domains.ts'
import { team1, teams } from '../fixtures.ts'
import { createRandom, type Random } from '../simulation/random.ts'

export interface ApplicationTask {
  readonly config: PoolConfig
  readonly seed: number
  /** For each transaction the names that it may release. */
  readonly held: readonly (readonly string[])[]
  /** Registrable domains for which all transactions compete. */
  readonly shared: readonly string[]
}

/** What the application was told of one name, or that it was told nothing. */
export interface Told {
  readonly domain: string
  readonly was: 'created' | 'released' | 'failed'
  readonly domainId?: string
}

export interface ScheduleReport {
  readonly schedule: number
  /** How it ended its transaction; `nothing` if the connection was gone before. */
  readonly sent: 'COMMIT' | 'ROLLBACK' | 'nothing'
  /** The tag of the server's answer; `null` if there was none. */
  readonly answer: string | null
  /** Statements of its own that went through. */
  readonly orders: number
  /** Whether a statement of its own was wrong, which ends its transaction. */
  readonly isSpoiled: boolean
  /** SQLSTATEs with which its other statements failed. */
  readonly failures: readonly string[]
  readonly told: readonly Told[]
  /** How many statements the stores sent after it had ended its transaction. */
  readonly late: number
  /** How often it stood still. */
  readonly freezes: number
}

const AT_ONCE = 8

function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

async function run(
  schedule: number,
  random: Random,
  { config, held, shared }: ApplicationTask,
): Promise<ScheduleReport> {
  const client = new Client({ ...config, application_name: 'application', connectionTimeoutMillis: 3000 })
  client.on('error', () => {})
  const told: Told[] = []
  const failures: string[] = []
  const report = { orders: 0, isSpoiled: false, late: 0, freezes: 0 }
  let sent: ScheduleReport['sent'] = 'nothing'

  function freeze(): void {
    if (!random.chance(0.003)) return
    report.freezes += 1
    standStill(random.integer(20, 600))
  }
  function query(text: string, values: unknown[]) {
    if (sent !== 'nothing') report.late += 1
    freeze()
    const answer = client.query(text, values)
    freeze()
    return answer
  }

  async function call(number: number): Promise<boolean> {
    const timeLimit = random.pick([200, 600, 2000])
    const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
    const store = createPostgresStore({ database: { query }, findTeam, synchronize: () => {}, timeLimit })
    try {
      if (random.chance(0.35)) {
        const domains = (held[schedule] ?? []).filter(() => random.chance(0.7))
        const released = await Promise.resolve(store.release('1', domains)).catch(error => {
          for (const domain of domains) told.push({ domain, was: 'failed' })
          throw error
        })
        for (const { domain, domainId } of released) told.push({ domain, domainId, was: 'released' })
      } else {
        const domains = Array.from({ length: random.integer(1, 6) }, (_, index) => {
          const registrable = random.chance(0.6) ? random.pick(shared) : `own${schedule}-${index}.com`
          return `n${number}-${index}.s${schedule}.${registrable}`
        })
        const answer = await registerDomains(team1, { domains }, store, { timeLimit }).catch(error => {
          for (const domain of domains) told.push({ domain, was: 'failed' })
          throw error
        })
        for (const result of answer.data.results) {
          if (result.status === 'created')
            told.push({ domain: result.domain, domainId: result.domainId, was: 'created' })
          else told.push({ domain: result.input, was: 'failed' })
        }
      }
      return true
    } catch {
      return false
    }
  }

  /** A statement of its own. Resolves to whether the connection still lives. */
  async function order(): Promise<boolean> {
    try {
      await client.query('INSERT INTO orders VALUES ($1, $2)', [schedule, report.orders])
      report.orders += 1
      return true
    } catch (error) {
      if (report.isSpoiled) return true
      failures.push(String((error as { code?: unknown }).code))
      return false
    }
  }

  async function work(): Promise<ScheduleReport['sent']> {
    await client.query('BEGIN')
    if (!(await order())) return 'nothing'
    for (let step = random.integer(1, 3); step > 0; step -= 1) {
      const numbers = random.chance(0.2) ? [2 * step, 2 * step + 1] : [2 * step]
      const wentThrough = await Promise.all(numbers.map(call))
      if (wentThrough.includes(false) && random.chance(0.3)) return 'ROLLBACK'
      if (random.chance(0.03)) {
        report.isSpoiled = true
        await client.query('SELECT 1 / 0').catch(() => {})
      }
      if (!(await order())) return 'nothing'
    }
    return random.chance(0.85) ? 'COMMIT' : 'ROLLBACK'
  }

  let answer: string | null = null
  try {
    await client.connect()
    const end = await work()
    sent = end
    if (end !== 'nothing') answer = (await client.query(end)).command
  } catch {
    // The connection is gone.
  }
  // Whatever the stores still mean to send, they send it now.
  await new Promise(resolve => setTimeout(resolve, 20))
  await client.end().catch(() => {})
  return { schedule, sent, answer, failures, told, ...report }
}

async function runAll(task: ApplicationTask): Promise<ScheduleReport[]> {
  const reports: ScheduleReport[] = []
  const remaining = task.held.keys()
  async function work(): Promise<void> {
    for (const schedule of remaining) reports.push(await run(schedule, createRandom(task.seed + schedule), task))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return reports
}

process.once('message', async (task: ApplicationTask) => {
  process.send?.(await runAll(task), () => process.disconnect?.())
})
