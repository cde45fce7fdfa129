import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export interface Step {
  readonly id?: string
  readonly name?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly 'continue-on-error'?: boolean
}

export interface Job {
  readonly needs?: string | readonly string[]
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> }
  readonly steps: readonly Step[]
}

export interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly defaults?: { readonly run?: { readonly shell?: string } }
  readonly jobs: Readonly<Record<string, Job>>
}

const folder = fileURLToPath(new URL('../../.github/workflows/', import.meta.url))

export const workflows = new Map(
  readdirSync(folder).map(file => [file, parse(readFileSync(join(folder, file), 'utf8')) as Workflow]),
)

/** The step of a job that has an ID, or whose commands contain a text. */
export function findStep(job: Job | undefined, text: string): Step {
  const found = job?.steps.find(({ id, run }) => id === text || (id === undefined && run?.includes(text)))
  if (!found) throw new Error(`There is no step ${text}`)
  return found
}

/** What GitHub runs a step with: see "defaults.run.shell" in the syntax of workflows. */
const shells: Readonly<Record<string, readonly string[]>> = {
  default: ['-e'],
  bash: ['--noprofile', '--norc', '-eo', 'pipefail'],
}

export interface Outcome {
  readonly code: number
  readonly printed: string
  /** What the step wrote to `GITHUB_OUTPUT`. */
  readonly output: string
}

/** Runs the commands of a step in bash, as GitHub does. */
export function runStep(
  workflow: Workflow,
  step: Step,
  { cwd, env, temporary }: { cwd: string; env: NodeJS.ProcessEnv; temporary: string },
): Promise<Outcome> {
  const place = mkdtempSync(join(temporary, 'step-'))
  const [script, output] = [join(place, 'script.sh'), join(place, 'output')]
  writeFileSync(script, step.run ?? '')
  writeFileSync(output, '')
  const flags = shells[workflow.defaults?.run?.shell ?? 'default'] ?? []
  return new Promise(resolve => {
    const settings = { ...process.env, ...env, RUNNER_TEMP: temporary, GITHUB_OUTPUT: output }
    execFile('bash', [...flags, script], { cwd, env: settings }, (error, stdout, stderr) =>
      resolve({
        code: error ? Number(error.code) : 0,
        printed: stdout + stderr,
        output: readFileSync(output, 'utf8'),
      }),
    )
  })
}
