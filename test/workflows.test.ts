import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const folder = new URL('../.github/workflows/', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8')

test.each(readdirSync(folder))('%s pins each action to a commit', file => {
  const actions = [...read(file).matchAll(/uses: (\S+)/g)].map(([, action]) => action)
  expect(actions.length).toBeGreaterThan(0)
  expect(actions.filter(action => !/^[\w-]+(?:\/[\w-]+){1,2}@[0-9a-f]{40}$/.test(action as string))).toEqual([])
})

test('test.yml has a job for each part of `npm run test:all`', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const parts = [...scripts['test:all'].matchAll(/test:(\S+)/g)].map(([, part]) => part)
  expect(parts.length).toBeGreaterThan(4)
  expect(read('test.yml')).toContain(`part: [${parts.join(', ')}]`)
})

describe('release.yml', () => {
  const [before = '', publish = ''] = read('release.yml').split(/^ {2}publish:$/m)

  test('installs, builds and tests in a job that is not allowed to publish', () => {
    expect(before).toMatch(/run: npm ci$/m)
    expect(before).toMatch(/run: npm pack$/m)
    expect(before).toMatch(/^permissions:\n {2}contents: read\n$/m)
    expect(before.match(/permissions:/g)).toHaveLength(1)
    expect(before).not.toMatch(/secrets|github\.token|GITHUB_TOKEN/)
  })

  test('pins the version of npm, and runs no package scripts, in the job that publishes', () => {
    expect(publish).toContain('id-token: write')
    const commands = [...publish.matchAll(/run: (.*)/g)].map(([, command]) => command)
    expect(commands).toEqual([
      expect.stringMatching(/^npm install --global --ignore-scripts npm@\d+\.\d+\.\d+ /),
      'npm publish ./domain-registration-*.tgz --ignore-scripts --provenance --access public',
    ])
  })
})
