import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'

const NGINX = '/usr/sbin/nginx'

/** A test behind nginx, which is skipped if nginx is not installed. */
export const testBehindNginx: (name: string, run: () => Promise<void>) => void = existsSync(NGINX)
  ? test
  : name => test.skip(`${name}: skipped, because nginx is not installed (Debian: apt-get install nginx)`)

/**
 * Starts nginx with the configuration that a page shows.
 *
 * @param page A file of `docs/`.
 * @param places Of each server that the page names, such as `127.0.0.1:3000`, where it listens in the test. nginx
 *   itself listens on a socket, without TLS.
 * @returns The path of the socket.
 */
export async function startNginx(page: string, places: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o755)
  const [, shown = ''] =
    /```nginx\n(.*?)```/s.exec(readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8')) ?? []
  const socketPath = join(folder, 'socket')
  expect(shown.match(/127\.0\.0\.1:\d+/g)?.sort()).toEqual(Object.keys(places).sort())
  const conf = shown
    .replace(/ssl_certificate(?:_key)? .*;/g, '')
    .replace(/listen .*;/, `listen unix:${socketPath};`)
    .replace(/127\.0\.0\.1:\d+/g, place => places[place] ?? '')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${folder}/${name};`,
  )
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; error_log /dev/null; pid ${folder}/pid; events {}
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    http { access_log off; ${temporary.join(' ')} ${conf} }`,
  )
  const nginx = spawn(NGINX, ['-c', join(folder, 'nginx.conf'), '-e', '/dev/null'], { stdio: 'ignore' })
  const exited = once(nginx, 'exit')
  onTestFinished(async () => {
    nginx.kill()
    await exited
  })
  await vi.waitFor(() => expect(existsSync(socketPath)).toBe(true), 10_000)
  return socketPath
}
