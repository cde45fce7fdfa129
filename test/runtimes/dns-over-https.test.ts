import { expect, test } from 'vitest'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { serveDnsOverHttps } from '../dns-verification/dns-over-https-server.ts'
import { why, workerd } from './runtimes.ts'
import { startWorkerd } from './workerd.ts'

const SECRET = 'the secret of the tests, 32 bytes and more'

const config = (flags: readonly string[]) => `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # The resolver of the test is on this machine.
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [(name = "RESOLVER", fromEnvironment = "RESOLVER"), (name = "SECRET", fromEnvironment = "SECRET")],
  compatibilityDate = "2026-10-01",
  compatibilityFlags = [${flags.map(flag => `"${flag}"`).join(', ')}],
);
`

async function verifyInWorker(names: readonly string[], RESOLVER: string, flags: readonly string[] = []) {
  const environment = { RESOLVER, SECRET }
  const { origin, stop } = await startWorkerd({ script: 'servers/dns-worker.js', config: config(flags), environment })
  try {
    const ask = () => fetch(origin, { method: 'POST', body: JSON.stringify(names) }).then(response => response.text())
    // Two requests at once, because a Worker may not wait for what another request has begun.
    const [first, second] = await Promise.all([ask(), ask()])
    expect(second).toBe(first)
    return first
  } finally {
    await stop()
  }
}

test.skipIf(!workerd.program)(
  `verification by DNS over HTTPS works in workerd${workerd.program ? '' : why}`,
  async () => {
    const { record } = createDnsVerification({ label: '_example-challenge', secret: SECRET })
    const { name, value } = await record('1', 'example.com')
    const { origin } = await serveDnsOverHttps({
      [name]: { Answer: [{ type: 16, data: `"${value.slice(0, 9)}" "${value.slice(9)}"` }] },
      '_example-challenge.example.org': { Status: 2 },
    })
    const names = ['www.example.com', '*.example.org', 'example.net', '8.8.8.8']
    const results = JSON.parse(await verifyInWorker(names, origin)) as { status: string }[]
    expect(results.map(({ status }) => status)).toEqual(['verified', 'unreachable', 'missing', 'impossible'])
  },
  60_000,
)

test.skipIf(!workerd.program)(
  'a Worker without node:dns hears that it needs resolveTxt',
  async () => {
    const flags = ['no_nodejs_compat', 'no_nodejs_compat_v2']
    expect(await verifyInWorker(['example.com'], 'none', flags)).toMatch(/TypeError: .*node:dns.*"resolveTxt"/)
  },
  60_000,
)
