import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A JavaScript runtime from its npm package. */
export interface Runtime {
  name: string
  /** The path of the runtime's program, or `null` if npm has no program for this platform. */
  program: string | null
  /** The runtime's parameters, which come before the file to run. */
  run: readonly string[]
}

const modules = fileURLToPath(new URL('node_modules', import.meta.url))
const platform = `${process.platform}-${process.arch}`

const files: Record<string, Record<string, string>> = {
  'Node 22': node(22),
  'Node 24': node(24),
  'Node 26': node(26),
  Bun: {
    'darwin-arm64': '@oven/bun-darwin-aarch64/bin/bun',
    'darwin-x64': '@oven/bun-darwin-x64/bin/bun',
    'linux-arm64': '@oven/bun-linux-aarch64/bin/bun',
    'linux-x64': '@oven/bun-linux-x64/bin/bun',
  },
  Deno: {
    'darwin-arm64': '@deno/darwin-arm64/deno',
    'darwin-x64': '@deno/darwin-x64/deno',
    'linux-arm64': '@deno/linux-arm64-glibc/deno',
    'linux-x64': '@deno/linux-x64-glibc/deno',
  },
  workerd: {
    'darwin-arm64': '@cloudflare/workerd-darwin-arm64/bin/workerd',
    'darwin-x64': '@cloudflare/workerd-darwin-64/bin/workerd',
    'linux-arm64': '@cloudflare/workerd-linux-arm64/bin/workerd',
    'linux-x64': '@cloudflare/workerd-linux-64/bin/workerd',
  },
}

function node(version: number): Record<string, string> {
  const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']
  return Object.fromEntries(platforms.map(each => [each, `node${version}-${each}/bin/node`]))
}

function find(name: string, run: readonly string[] = []): Runtime {
  const file = `${modules}/${files[name]?.[platform]}`
  return { name, program: existsSync(file) ? file : null, run }
}

export const nodes: readonly [Runtime, ...Runtime[]] = [
  { name: `Node ${process.versions.node.split('.')[0]}`, program: process.execPath, run: [] },
  find('Node 22'),
  find('Node 24'),
  find('Node 26'),
]
export const bun = find('Bun', ['run', '--no-install'])
export const deno = find('Deno', [
  'run',
  '--allow-net=127.0.0.1,localhost',
  '--allow-env',
  '--allow-read',
  '--no-prompt',
])
export const workerd = find('workerd', ['serve', '--control-fd=3'])

export const why = ` (skipped: npm has none for ${platform})`
