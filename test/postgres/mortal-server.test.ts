import { once } from 'node:events'
import { connect } from 'node:net'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createMortalServer, type MortalServer } from './mortal-server.ts'
import { findAlive, findChildren } from './process-table.ts'

let server: MortalServer
beforeAll(async () => {
  server = await createMortalServer()
  await server.start()
}, 60_000)
afterAll(() => server.remove())

test('of a killed server nothing is left, also no process that it does not tell of and that cannot end', async () => {
  const socket = connect(server.config.port as number, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  // Behind this connection a process waits for the first message.
  const pool = new Pool({ ...server.config, max: 1 }).on('error', () => {})
  const { all, waiting } = await vi.waitFor(async () => {
    const { rows } = await pool.query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer AS pid")
    const told = await pool.query<{ pid: number }>('SELECT pid FROM pg_stat_activity')
    const all = await findChildren(rows[0].pid)
    const waiting = all.find(pid => !told.rows.some(row => row.pid === pid))
    if (!waiting) throw new Error('It tells of all')
    return { all, waiting }
  })
  process.kill(waiting, 'SIGSTOP')
  await server.killAll()
  expect(await findAlive(all)).toEqual([])
  socket.destroy()
  await pool.end()
  await server.start()
})
