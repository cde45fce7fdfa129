/**
 * A page on which customers who are logged in paste, correct, register, search and delete the names of their team. The
 * element `<domain-registration>` does all this; the program prints the page's address.
 */
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { ApiError, createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

// Your application: its sessions and its pages. A real one asks for a password.
const sessions = new Map<string, { teamId: string }>()
const findSession = (cookie = '') => sessions.get(/(?:^|; )session=([\w-]+)/.exec(cookie)?.[1] ?? '')
const app = express()
app.get('/', ({ headers }, response) => {
  const session = randomUUID()
  sessions.set(session, findSession(headers.cookie) ?? { teamId: '1' })
  response.cookie('session', session, { httpOnly: true, sameSite: 'strict' })
  response.set('Content-Security-Policy', "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'")
  response.send(page)
})
app.get('/style.css', (_, response) => void response.type('css').send(style))

// The names of the session's team, and the element that the page loads.
const scopes = ['domains:create', 'domains:delete', 'domains:read']
app.use(
  domainsRouter({
    store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active', maxDomains: 5000 }] }),
    operations: ['create', 'preview', 'delete', 'list'],
    authenticate({ raw }) {
      const session = findSession(raw.headers.cookie)
      if (!session) throw new ApiError('unauthorized', 'Log in first.')
      return { type: 'team', teamId: session.teamId, scopes }
    },
  }),
)
const element = fileURLToPath(import.meta.resolve('domain-registration/element'))
app.get('/element.js', (_, response) => response.sendFile(element))

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Your domains</title>
    <link rel="stylesheet" href="/style.css">
    <script type="module" src="/element.js"></script>
  </head>
  <body>
    <main>
      <h1>Your domains</h1>
      <domain-registration url="/v1/domains"></domain-registration>
    </main>
  </body>
</html>`
const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }`

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1').on('listening', () => {
  const { port } = server.address() as { port: number }
  console.log(`The page of team 1: http://localhost:${port}/`)
})
