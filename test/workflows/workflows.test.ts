import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { counts } from '../counts.ts'
import { findStep, type Job, runStep, type Workflow, workflows } from './workflow.ts'

const root = new URL('../../', import.meta.url)
const update = workflows.get('update.yml') as Workflow
const release = workflows.get('release.yml') as Workflow

/** A folder with programs that stand for others, which come first in `PATH`. */
function createPlace(programs: Readonly<Record<string, string>>) {
  const place = mkdtempSync(join(tmpdir(), 'workflows-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const bin = join(place, 'bin')
  mkdirSync(bin)
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const temporary = join(place, 'temporary')
  mkdirSync(temporary)
  const git = (cwd: string, ...parameters: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...parameters], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  // The repository that jobs check out, and push to.
  const origin = join(place, 'origin')
  mkdirSync(origin)
  git(origin, 'init', '--initial-branch', 'main')
  writeFileSync(join(origin, 'data.json'), 'old\n')
  git(origin, 'add', '.')
  git(origin, 'commit', '--message', 'Old data')
  const checkOut = (name: string) => {
    git(place, 'clone', origin, name)
    return join(place, name)
  }
  return { place, temporary, git, origin, checkOut, env: { PATH: `${bin}${delimiter}${process.env.PATH}` } }
}

/** What `npm run update` does in these tests. */
const cases = [
  ['everything is up to date', '', 0, { isGreen: true, isProposed: false }],
  ['a source is newer', 'echo new > data.json; echo "- data.json: newer"', 0, { isGreen: true, isProposed: true }],
  ['all sources fail', 'echo "- IANA failed"', 1, { isGreen: false, isProposed: false }],
  [
    'a source is newer, another one fails',
    'echo new > data.json; printf -- "- data.json: newer\\n- IANA failed\\n"',
    1,
    { isGreen: false, isProposed: true },
  ],
] as const

test.each(cases)('update.yml, when %s', async (_, commands, code, { isGreen, isProposed }) => {
  const { temporary, place, git, origin, checkOut, env } = createPlace({
    npm: `[ "$*" = 'run --silent update' ] || exit 0\n${commands}\nexit ${code}`,
    gh: 'case "$2" in list) echo 0;; create) cat "$8" > "$GH_BODY";; esac',
  })
  const body = join(place, 'body')
  const settings = { ...env, GH_BODY: body }

  // The first job, with what GitHub does between its steps.
  const cwd = checkOut('first')
  const outcomes = new Map<string, string>()
  let isFound = false
  let fails = false
  for (const step of update.jobs.find?.steps ?? []) {
    const isDue =
      step.if === undefined ||
      (step.if.includes("found == 'yes'") && isFound) ||
      (step.if.includes("update.outcome == 'failure'") && outcomes.get('update') === 'failure')
    if (!step.run || !isDue || fails) continue
    const { code, output } = await runStep(update, step, { cwd, env: settings, temporary })
    outcomes.set(step.id ?? '', code === 0 ? 'success' : 'failure')
    if (output.includes('found=yes')) isFound = true
    if (code !== 0 && !step['continue-on-error']) fails = true
  }
  expect({ isGreen: !fails, isProposed: isFound }).toEqual({ isGreen, isProposed })
  if (!isProposed) return

  // The artifact is all that the second job gets.
  const upload = update.jobs.find?.steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact'))
  const download = update.jobs.propose?.steps.find(({ uses }) => uses?.startsWith('actions/download-artifact'))
  const place2 = join(place, 'second-temporary')
  mkdirSync(place2)
  const toPath = (path: unknown, folder: string) => String(path).replace(/^\$\{\{ runner\.temp \}\}/, folder)
  cpSync(toPath(upload?.with?.path, temporary), toPath(download?.with?.path, place2), { recursive: true })
  const second = checkOut('second')
  for (const step of update.jobs.propose?.steps ?? []) {
    if (!step.run) continue
    const env = { ...settings, BRANCH: 'update-data', VERDICT: 'npm test: success', RUN: 'https://example.com/1' }
    expect(await runStep(update, step, { cwd: second, env, temporary: place2 })).toMatchObject({ code: 0 })
  }
  expect(git(origin, 'show', 'update-data:data.json')).toBe('new\n')
  const text = readFileSync(body, 'utf8')
  expect(text).toContain('- data.json: newer')
  expect(text.includes('- IANA failed')).toBe(code !== 0)
  expect(text).toContain('npm test: success')
})

test('a command that fails in a pipe fails its step', async () => {
  const { temporary, checkOut, env } = createPlace({ npm: 'echo news; exit 1', node: 'exit 1' })
  const cwd = checkOut('clone')
  const pipes = [...workflows].flatMap(([file, workflow]) =>
    Object.values(workflow.jobs).flatMap(({ steps }) =>
      steps.filter(({ run }) => run && / \| /.test(run)).map(step => ({ file, workflow, step })),
    ),
  )
  expect(pipes.length).toBeGreaterThan(0)
  for (const { file, workflow, step } of pipes)
    expect([file, (await runStep(workflow, step, { cwd, env, temporary })).code]).not.toEqual([file, 0])
})

const writes = ({ permissions = {} }: { permissions?: Readonly<Record<string, string>> }) =>
  Object.values(permissions).includes('write')

/** Commands that run nothing of this repository or of its dependencies. */
const ownOnly = /^(?:git|gh|case|if|else|fi|printf|npm (?:publish|install) .*--ignore-scripts)\b/

describe.each([...workflows])('%s', (_, workflow) => {
  test('gives no token that can write to the code of others', () => {
    expect(writes(workflow)).toBe(false)
    for (const [name, job] of Object.entries<Job>(workflow.jobs)) {
      const commands = job.steps.flatMap(({ run }) => run?.trim().split('\n') ?? []).map(line => line.trim())
      if (writes(job)) expect([name, commands.filter(line => !ownOnly.test(line))]).toEqual([name, []])
      for (const { uses, with: settings } of job.steps)
        if (uses?.startsWith('actions/checkout') && !commands.some(line => line.startsWith('git push')))
          expect([name, settings?.['persist-credentials']]).toEqual([name, false])
    }
  })

  test('has commands that bash can parse', async () => {
    const { temporary, checkOut } = createPlace({})
    const cwd = checkOut('clone')
    for (const { steps } of Object.values(workflow.jobs))
      for (const { run } of steps.filter(({ run }) => run)) {
        const body = `if false; then\n${run}\nfi`
        expect(await runStep(workflow, { run: body }, { cwd, env: {}, temporary })).toMatchObject({ code: 0 })
      }
  })
})

/** See "Syntax for GitHub's form schema". */
interface Form {
  readonly name: string
  readonly description: string
  readonly body: readonly { type: string; id?: string; attributes: { label?: string; value?: string } }[]
}

test('each issue form has what GitHub requires, with different IDs and labels', () => {
  const folder = new URL('../../.github/ISSUE_TEMPLATE/', import.meta.url)
  const files = readdirSync(folder)
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) {
    const form = parse(readFileSync(new URL(file, folder), 'utf8')) as Form
    expect([file, typeof form.name, typeof form.description]).toEqual([file, 'string', 'string'])
    const fields = form.body.filter(({ type }) => type !== 'markdown')
    expect(fields.length).toBeGreaterThan(0)
    for (const { type, attributes } of form.body) {
      expect(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']).toContain(type)
      expect(typeof (type === 'markdown' ? attributes.value : attributes.label)).toBe('string')
    }
    for (const of of [fields.map(({ id }) => id), fields.map(({ attributes }) => attributes.label)])
      expect(new Set(of).size).toBe(fields.length)
  }
})

test('release.yml publishes what a job has packed that runs no test, once the tests have passed', () => {
  const runs = (job: Job, pattern: RegExp) => job.steps.some(({ run }) => run && pattern.test(run))
  const { publish, ...others } = release.jobs
  const packing = Object.entries(others).filter(([, job]) => runs(job, /\bnpm pack\b/))
  const testing = Object.entries(others).filter(([, job]) => runs(job, /\bnpm (?:run )?test/))
  expect([packing.length, testing.length]).toEqual([1, 1])
  expect(packing[0]?.[0]).not.toBe(testing[0]?.[0])
  expect(packing[0]?.[1].needs).toBeUndefined()
  expect(publish?.needs).toEqual(expect.arrayContaining([packing[0]?.[0], testing[0]?.[0]]))
  const [, pack] = packing[0] as [string, Job]
  expect(findStep(pack, 'npm ci').run).toContain('--ignore-scripts')
})

test.each([
  ['v1.2.3', 'latest'],
  ['v1.2.3-beta.1', 'next'],
])('release.yml publishes %s with the tag "%s", which npm demands for a prerelease', async (version, tag) => {
  const { place, temporary, env } = createPlace({ npm: 'echo "npm $*" >> calls' })
  const step = findStep(release.jobs.publish, 'npm publish')
  expect(
    await runStep(release, step, { cwd: place, env: { ...env, GITHUB_REF_NAME: version }, temporary }),
  ).toMatchObject({ code: 0 })
  expect(readFileSync(join(place, 'calls'), 'utf8')).toMatch(new RegExp(` --tag ${tag}\\n$`))
})

test('test.yml runs each part of npm run test:all', () => {
  const { part } = (workflows.get('test.yml') as Workflow).jobs
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  const parts = scripts['test:all'].match(/\btest:\w+/g).map((name: string) => name.replace('test:', ''))
  expect(part?.strategy?.matrix.part).toEqual(parts)
})

test('the weekly run has each file whose random work TIMES repeats', () => {
  const { weekly } = (workflows.get('test.yml') as Workflow).jobs
  const filters = weekly?.steps.flatMap(({ run = '' }) => run.match(/\btest\/\S+/g) ?? []) ?? []
  const files = readdirSync(new URL('test', root), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => `test/${file}`)
  expect(filters.filter(filter => !files.some(file => file.startsWith(filter)))).toEqual([])
  // What is left out is a size, or already whole in a long run.
  const random = Object.keys(counts).filter(count => count !== 'registrations' && count !== 'codePoints')
  const pattern = new RegExp(`\\bcounts\\.(?:${random.join('|')})\\b`)
  const isRepeated = (file: string) => pattern.test(readFileSync(new URL(file, root), 'utf8'))
  const repeated = files.filter(file => file.endsWith('.test.ts') && isRepeated(file))
  expect(repeated.length).toBeGreaterThan(20)
  expect(repeated.filter(file => !filters.some(filter => file.startsWith(filter)))).toEqual([])
})
