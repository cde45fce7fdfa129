import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Readonly<Record<string, { license?: string; hasInstallScript?: boolean; dependencies?: object }>>
}

/** The packages that are installed with this one, and their licenses. */
const licenses = {
  'ipaddr.js': 'MIT',
  punycode: 'MIT',
  tldts: 'MIT',
  'tldts-core': 'MIT',
  zod: 'MIT',
}

test('every package that is installed with this one has a known license and no install script', () => {
  const found = new Map<string, string | undefined>()
  const waiting = Object.keys(packages['']?.dependencies ?? {})
  for (const name of waiting) {
    const installed = packages[`node_modules/${name}`]
    found.set(name, installed?.hasInstallScript ? 'has an install script' : installed?.license)
    waiting.push(...Object.keys(installed?.dependencies ?? {}))
  }
  expect(Object.fromEntries([...found].sort())).toEqual(licenses)
})
