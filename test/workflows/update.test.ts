import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('update.mjs tries every source, the suffix list first, although others fail, and fails at the end', async () => {
  const place = mkdtempSync(join(tmpdir(), 'update-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  for (const folder of ['updates', 'src/hostname', 'test/vectors', 'package.json'])
    cpSync(join(root, folder), join(place, folder), {
      recursive: true,
      filter: source => !source.includes('node_modules'),
    })
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))

  // Only one registry of IANA can be reached.
  const downloads = join(place, 'downloads')
  mkdirSync(downloads)
  const head =
    'Address Block,Name,RFC,Allocation Date,Termination Date,Source,Destination,Forwardable,Globally Reachable'
  const row = '192.0.2.0/24,New,[RFC5737],2010-01,N/A,False,False,False,False'
  writeFileSync(join(downloads, 'iana-ipv6-special-registry-1.csv'), `${head}\n${row}\n`)
  // Nor can npm's registry.
  writeFileSync(join(place, 'npm'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const env = { ...process.env, PATH: `${place}${delimiter}${process.env.PATH}` }
  const { code, stdout } = await new Promise<{ code: unknown; stdout: string }>(resolve => {
    execFile(process.execPath, ['updates/update.mjs', downloads], { cwd: place, env }, (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    )
  })
  expect(code).toBe(1)
  const lines = stdout.trim().split('\n')
  expect(lines.map(line => /^- (.*?)(?: could not be updated)?: /.exec(line)?.[1])).toEqual([
    'tldts, the Public Suffix List',
    'Unicode',
    'UTS #39',
    'iana-ipv4-special-registry',
    'test/vectors/iana-ipv6-special-registry.json',
    'special-use-domain-names',
    'web-platform-tests',
    'src/hostname/idna/tables.ts',
  ])
  const read = (folder: string) => readFileSync(join(folder, 'test/vectors/iana-ipv6-special-registry.json'), 'utf8')
  expect(JSON.parse(read(place)).cases).toEqual([['192.0.2.0/24', 'New', '[RFC5737]', false]])
})
