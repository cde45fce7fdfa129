/**
 * Starts the program of `sqlite.ts`, with the page that customers would see, and behind a link a Swagger UI page that
 * describes the call and lets you try it. Prints the first page's address. Without SQLite in Node, starts the program
 * of `express.ts` instead.
 */
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { ApiError } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { openapi } from 'domain-registration/openapi'
import absolutePath from 'swagger-ui-dist/absolute-path.js'

const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined
const { app, server, store } = await (hasSqlite ? import('./sqlite.ts') : import('./express.ts'))

const document = openapi({ info: { title: 'Domain registration, an example' }, rateLimited: false })
const whereKeysAre = 'API keys were printed where this server was started: press "Authorize", and paste one.'
document.info.description = `${document.info.description}\n\n${whereKeysAre}`

const firstPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Names of team 2</title>
    <link rel="stylesheet" href="/docs/first.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
    <script type="module" src="/docs/element.js"></script>
  </head>
  <body>
    <main>
      <h1>Names of team 2</h1>
      <p>Your customers could use this page. Your programs use <a href="/docs">the API</a>.</p>
      <domain-registration url="/team/domains"></domain-registration>
    </main>
  </body>
</html>`

const firstStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; background: Canvas; color: CanvasText; }
main { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
a { color: light-dark(#0b57d0, #8ab4f8); }`

/** Whoever opens the page acts for team 2. The cookie keeps out the pages of other sites. */
const session = randomUUID()
app.use(
  domainsRouter({
    store,
    path: '/team/domains',
    operations: ['create', 'preview', 'delete', 'list'],
    authenticate({ raw }) {
      if (!raw.headers.cookie?.includes(session)) throw new ApiError('unauthorized', 'Open the page again.')
      return { type: 'team', teamId: '2', scopes: ['domains:create', 'domains:delete', 'domains:read'] }
    },
  }),
)

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${document.info.title}</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="page"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>`

const script = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  validatorUrl: null,
  docExpansion: 'full',
  tryItOutEnabled: true,
  persistAuthorization: true,
})`

/**
 * Swagger UI puts tables beside their descriptions, even on a narrow screen. This style puts each table below its
 * description.
 */
const style = `@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 8px; }
  .swagger-ui .responses-table > * > tr, .swagger-ui .responses-table > * > tr > td { display: block; min-width: 0; }
  .swagger-ui .response-col_links { display: none !important; }
  .swagger-ui table, .swagger-ui pre, .swagger-ui select { max-width: 100%; }
  .swagger-ui { overflow-wrap: anywhere; }
  /* Large enough for fingers. Below 16 px, some phones zoom in when you type. */
  .swagger-ui :is(button, input, select, textarea) { font-size: 16px !important; min-height: 44px !important; }
}`

/** Allows nothing from other hosts, and nothing inline except the images in Swagger UI's style sheet. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

app.get('/', (_, response) => {
  response.cookie('session', session, { httpOnly: true, sameSite: 'strict' })
  response.set({ 'Content-Security-Policy': contentSecurityPolicy, 'Cache-Control': 'no-store' }).send(firstPage)
})
app.get('/openapi.json', (_, response) => void response.json(document))
app.use('/docs', (_, response, next) => {
  response.set({ 'Content-Security-Policy': contentSecurityPolicy, 'X-Content-Type-Options': 'nosniff' })
  next()
})
app.get('/docs', (_, response) => void response.type('html').send(page))
app.get('/docs/first.css', (_, response) => void response.type('css').send(firstStyle))
app.get('/docs/element.js', (_, response) =>
  response.sendFile(fileURLToPath(import.meta.resolve('domain-registration/element'))),
)
app.get('/docs/page.css', (_, response) => void response.type('css').send(style))
app.get('/docs/page.js', (_, response) => void response.type('js').send(script))
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']) {
  app.get(`/docs/${file}`, (_, response) => response.sendFile(file, { root: absolutePath() }))
}

if (!hasSqlite) {
  const why = `Node ${process.version} has no node:sqlite; it needs 22.13 or later`
  console.log(`Registrations are kept in memory and are lost when this process ends: ${why}`)
}
if (!server.listening) await new Promise(resolve => server.once('listening', resolve))
const { port } = server.address() as { port: number }
console.log(`Read and try it: http://localhost:${port}/`)
