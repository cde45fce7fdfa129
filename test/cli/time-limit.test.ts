import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { AUTHENTICATED } from './databases.ts'
import { run } from './program.ts'

test('each command fails after its time limit if the database never answers, or answers no statement', async () => {
  const commands = ['migrate', 'doctor', 'keys list', 'keys export', 'count', 'status', 'export', 'find example.com']
  async function runAll(serve: (socket: Socket) => void) {
    const server = createServer(serve).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const env = { DATABASE_URL: `postgres://me:secret-word@127.0.0.1:${port}/db` }
    return Promise.all(commands.map(command => run(command.split(' '), { env })))
  }
  const never = runAll(() => {})
  const noStatement = runAll(socket => void socket.once('data', () => socket.write(AUTHENTICATED)))
  for (const outcomes of await Promise.all([never, noStatement]))
    for (const [index, { code, stdout, stderr }] of outcomes.entries())
      expect([commands[index], code, stdout + stderr]).toEqual([
        commands[index],
        1,
        expect.stringMatching(/time limit of 10000 ms|timeout/),
      ])
})
