import { spawn } from 'node:child_process'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../free-port.ts'

/** Name servers of Debian: for each, how to start it, and what its configuration needs to run without its service. */
const programs = {
  dnsmasq: {
    path: '/usr/sbin/dnsmasq',
    parameters: ['-k', '-C'],
    configure: (port: number) =>
      `port=${port}\nlisten-address=127.0.0.1\nbind-interfaces\nno-resolv\nno-hosts\nuser=\ngroup=\npid-file\n` +
      'txt-record=ready.test\n',
  },
  unbound: {
    path: '/usr/sbin/unbound',
    parameters: ['-d', '-c'],
    configure: (port: number, folder: string) =>
      `server:\n interface: 127.0.0.1@${port}\n directory: "${folder}"\n chroot: ""\n username: ""\n pidfile: ""\n` +
      ' use-syslog: no\n verbosity: 0\n do-not-query-localhost: no\n local-zone: "ready.test." static\n',
  },
  nsd: {
    path: '/usr/sbin/nsd',
    parameters: ['-d', '-c'],
    configure: (port: number, folder: string) =>
      `server:\n ip-address: 127.0.0.1@${port}\n zonesdir: "${folder}"\n chroot: ""\n username: ""\n pidfile: ""\n` +
      ` database: ""\n xfrdfile: "${folder}/xfrd"\n zonelistfile: "${folder}/list"\n server-count: 1\n` +
      'remote-control:\n control-enable: no\n',
  },
} as const

export type NameServer = keyof typeof programs

/** Those that are not installed. */
export const findMissing = (...names: readonly NameServer[]): readonly NameServer[] =>
  names.filter(name => !existsSync(programs[name].path))

/**
 * Starts a name server on loopback, as Debian's package configures it.
 *
 * @param configuration More lines.
 * @param files Files that the configuration names.
 */
export async function startNameServer(
  name: NameServer,
  configuration: string,
  files: Readonly<Record<string, string>> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`))
  const port = await findFreePort()
  const { path, parameters, configure } = programs[name]
  await writeFile(join(folder, 'conf'), `${configure(port, folder)}${configuration}\n`)
  for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content)
  const program = spawn(path, [...parameters, join(folder, 'conf')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  program.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  const exited = once(program, 'exit')
  const address = `127.0.0.1:${port}`
  const close = async () => {
    program.kill()
    await exited
    await rm(folder, { recursive: true, force: true })
  }
  const failed = exited.then(() => {
    throw new Error(`${name} ended: ${errors}`)
  })
  failed.catch(() => {})
  await Promise.race([failed, untilReady(address)]).catch(async error => {
    await close()
    throw error
  })
  return { address, port, close }
}

/** Resolves once a server answers anything. */
async function untilReady(address: string): Promise<void> {
  for (;;) {
    const resolver = new dns.Resolver({ timeout: 100, tries: 1 })
    resolver.setServers([address])
    const code = await resolver.resolveTxt('ready.test').then(
      () => null,
      error => error.code,
    )
    if (!['ETIMEOUT', 'ECONNREFUSED'].includes(code)) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
