import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { waitFor } from './wait-for.ts'

/** How to start each proxy with a configuration that a page shows, so that it listens on a socket, without TLS. */
const proxies = {
  nginx: {
    program: '/usr/sbin/nginx',
    toConfiguration(shown: string, folder: string, socketPath: string) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        name => `${name}_temp_path ${folder}/${name};`,
      )
      const server = shown
        .replace(/ssl_certificate(?:_key)? .*;/g, '')
        .replace(/listen .*;/, `listen unix:${socketPath};`)
      return `daemon off; error_log /dev/null; pid ${folder}/pid; events {}
        ${process.getuid?.() === 0 ? 'user root;' : ''}
        http { access_log off; ${temporary.join(' ')} ${server} }`
    },
    toParameters: (file: string) => ['-c', file, '-e', '/dev/null'],
  },
  haproxy: {
    program: '/usr/sbin/haproxy',
    toConfiguration: (shown: string, _: string, socketPath: string) =>
      shown.replace(/bind .*/, `bind unix@${socketPath}`),
    toParameters: (file: string) => ['-db', '-q', '-f', file],
  },
  caddy: {
    program: '/usr/bin/caddy',
    toConfiguration(shown: string, _: string, socketPath: string) {
      const server = shown.replace(/^:80 \{/m, `http:// {\n  bind unix/${socketPath}`)
      return `{\n  admin off\n}\n${server}`
    },
    toParameters: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
} as const
export type ProxyName = keyof typeof proxies
export const proxyNames = Object.keys(proxies) as ProxyName[]

/** The configurations of examples/production. */
export const configurations: Readonly<Record<ProxyName, string>> = {
  nginx: 'examples/production/nginx.conf',
  haproxy: 'examples/production/haproxy.cfg',
  caddy: 'examples/production/Caddyfile',
}

/** The proxies that are installed. */
export const installedProxies = proxyNames.filter(proxy => existsSync(proxies[proxy].program))

/** A test behind a proxy, which is skipped if the proxy is not installed. */
export const testBehind = (proxy: ProxyName, name: string, run: () => Promise<void>): void =>
  existsSync(proxies[proxy].program)
    ? test(name, run)
    : test.skip(`${name}: skipped, because ${proxy} is not installed (Debian: apt-get install ${proxy})`)

/**
 * Starts a proxy with the configuration of a file, or that a page shows.
 *
 * @param places Of each server that the configuration names, such as `127.0.0.1:3000`, where it listens in the test.
 */
export async function startProxy(proxy: ProxyName, source: string, places: Readonly<Record<string, string>>) {
  const { program, toConfiguration, toParameters } = proxies[proxy]
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'))
  await chmod(folder, 0o755)
  const text = readFileSync(new URL(`../${source}`, import.meta.url), 'utf8')
  const shown = source.endsWith('.md') ? (new RegExp(`\`\`\`${proxy}\\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? '') : text
  expect(shown.match(/127\.0\.0\.1:\d+/g)?.sort()).toEqual(Object.keys(places).sort())
  const [file, socketPath] = [join(folder, 'configuration'), join(folder, 'socket')]
  const placed = shown.replace(/127\.0\.0\.1:\d+/g, place => places[place] ?? '')
  await writeFile(file, toConfiguration(placed, folder, socketPath))
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const child = spawn(program, toParameters(file), { stdio: 'ignore', env })
  const exited = once(child, 'exit')
  // The socket's file is there a moment before the proxy listens on it.
  await waitFor(async () => {
    const socket = connect(socketPath)
    await once(socket, 'connect')
    socket.destroy()
  })
  return {
    /** The path of the socket on which the proxy listens. */
    socketPath,
    async end() {
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true })
    },
  }
}
