/**
 * An admin page on which a team adds, searches, deletes and exports its names, with the element
 * `<domain-registration>`, and creates, rotates and revokes its API keys. The program prints the page's address. The
 * page has no access control, so put your own login in front of it.
 */
import { fileURLToPath } from 'node:url'
import {
  createMemoryKeyStore,
  createMemoryStore,
  generateApiKey,
  isApiError,
  registerDomains,
  type StoredKeyRecord,
} from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express, { type ErrorRequestHandler, type Request } from 'express'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const keys = createMemoryKeyStore()
const scopes = ['domains:create', 'domains:delete', 'domains:read']
/** The user who is logged in. */
const caller = { type: 'team', teamId: '1', scopes } as const
const owner = { type: 'team', ownerId: '1' } as const
const WEEK = 7 * 24 * 60 * 60 * 1000

// Some names to show.
const domains = Array.from({ length: 60 }, (_, index) => `host-${index + 1}.example.com`)
await registerDomains(caller, { domains: [...domains, '*.example.org'] }, store)

const escapeHtml = (text: string) => text.replaceAll(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)

const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="stylesheet" href="/style.css">
    <script type="module" src="/element.js"></script>
  </head>
  <body><nav><a href="/">Names</a> <a href="/keys">API keys</a></nav>
    <main><h1>${escapeHtml(title)}</h1>${body}</main></body>
</html>`

const style = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: 0.25rem 0.5rem; }
tr { border-bottom: 1px solid #ccc; } td form { display: inline; } code { overflow-wrap: anywhere; }
button, nav a, input:not([type=checkbox], [type=radio]), textarea { font: inherit; min-height: 44px; min-width: 44px; }
nav a { display: inline-block; line-height: 44px; } textarea { display: block; width: 100%; }
[role=status] { background: #eef6ee; padding: 0.5rem; } [role=alert] { background: #fbeaea; padding: 0.5rem; }`

const explain = (error: Error) => `<p role="alert">${escapeHtml(error.message)}</p>`
const report = (text: string) => `<p role="status">${escapeHtml(text)}</p>`

/** Asks a question before an action that cannot be undone. "Yes" sends the same form again. */
const ask = (question: string, action: string, fields: readonly (readonly [name: string, value: string])[]) =>
  page(
    question,
    `<form method="post" action="${action}">
    ${fields.map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`).join('')}
    <button name="confirmed" value="yes">Yes</button>
    <a href="/keys">No</a></form>`,
  )

const names = `<p><a href="/names/export?format=csv" download="names.csv">Export as CSV</a></p>
  <domain-registration url="/names"></domain-registration>`

function showKeys(newKey?: string, said = ''): string {
  const button = (action: string, { hash }: StoredKeyRecord) =>
    `<form method="post" action="/keys/${action.toLowerCase()}">
      <button name="hash" value="${hash}">${action}</button></form>`
  const rows = keys.listKeys(owner).map(record => {
    const { label, hint, revokedAt, expiresAt } = record
    const isOver = revokedAt !== null || (expiresAt !== null && expiresAt <= new Date())
    const until = expiresAt === null ? 'active' : `until ${expiresAt.toISOString().slice(0, 10)}`
    const state = revokedAt !== null ? 'revoked' : isOver ? 'expired' : until
    return `<tr><td>${escapeHtml(label ?? '')}</td><td><code>${hint ?? ''}</code></td><td>${state}</td>
      <td>${isOver ? '' : button('Rotate', record) + button('Revoke', record)}</td></tr>`
  })
  const shown = newKey && `<p role="status">Copy this key now; it is shown only once: <code>${newKey}</code></p>`
  return `${said}${shown ?? ''}<table><tr><th>Label</th><th>Key</th><th>State</th><th></th></tr>${rows.join('')}</table>
    <form method="post" action="/keys/create"><input name="label" aria-label="Label" maxlength="200" required>
    <button>Create a key</button></form>`
}

async function createKey(label: string | null): Promise<string> {
  const { key, hash, hint } = await generateApiKey({ type: 'team', id: owner.ownerId })
  await keys.addKey({ ...owner, hash, hint, label, scopes })
  return key
}

const app = express()
app.use((request, response, next) => {
  response.set({
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; " +
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
  })
  // Forms on other sites must not create or delete anything here. Every modern browser sends at least one of the
  // headers `Sec-Fetch-Site` and `Origin`.
  const { 'sec-fetch-site': site, origin } = request.headers
  const isForeign =
    (site !== undefined && site !== 'same-origin' && site !== 'none') ||
    (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== request.headers.host))
  if (request.method === 'POST' && isForeign) response.status(403).send('Submit the form on this page.')
  else next()
})
const operations = ['create', 'preview', 'delete', 'list', 'export'] as const
app.use(domainsRouter({ store, path: '/names', operations, authenticate: () => caller }))
const element = fileURLToPath(import.meta.resolve('domain-registration/element'))
app.get('/element.js', (_, response) => response.sendFile(element))
app.use(express.urlencoded({ extended: false }))
app.get('/style.css', (_, response) => void response.type('css').send(style))
app.get('/', (_, response) => void response.send(page('Names', names)))
app.get('/keys', (_, response) => void response.send(page('API keys', showKeys())))
app.post('/keys/create', async (request, response) => {
  const label: unknown = request.body?.label
  const shown = await createKey(typeof label === 'string' ? label : null).then(showKeys, explain)
  response.send(page('API keys', shown))
})
app.post('/keys/rotate', async (request, response) => {
  const old = findOwnKey(request)
  if (!old) return void response.redirect(303, '/keys')
  const key = await createKey(old.label)
  // Both keys work for a week, or until the old key expires if that is earlier, so there is time to switch programs to
  // the new one.
  const inAWeek = new Date(Date.now() + WEEK)
  if (old.expiresAt === null || old.expiresAt > inAWeek) keys.updateKey(old.hash, { expiresAt: inAWeek })
  response.send(page('API keys', showKeys(key)))
})
app.post('/keys/revoke', (request, response) => {
  const record = findOwnKey(request)
  if (!record) return void response.redirect(303, '/keys')
  const named = `the key ${record.label ?? ''} ${record.hint ?? ''}`
  if (!request.body?.confirmed)
    return void response.send(ask(`Revoke ${named} permanently?`, '/keys/revoke', [['hash', record.hash]]))
  keys.revokeKey(record.hash)
  response.send(page('API keys', showKeys(undefined, report(`Revoked ${named}`))))
})
app.use(((error, _request, response, next) => {
  if (isApiError(error)) response.status(error.status).send(page('The request failed', explain(error)))
  else next(error)
}) satisfies ErrorRequestHandler)

/** Finds only the team's own keys, even if the form sends the hash of another team's key. */
const findOwnKey = ({ body }: Request): StoredKeyRecord | undefined =>
  keys.listKeys(owner).find(({ hash }) => hash === body?.hash)

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1').on('listening', () => {
  const { port } = server.address() as { port: number }
  console.log(`Names and keys of team 1: http://localhost:${port}/`)
})
