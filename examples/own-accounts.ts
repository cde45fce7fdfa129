import { ApiError, createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'
import { RateLimiterMemory } from 'rate-limiter-flexible'

// Replace this with your own sessions.
const sessions = new Map([['s3cret', { user: 'Ada', teamId: '1' }]])
const findSession = (cookie = '') => sessions.get(/session=(\w+)/.exec(cookie)?.[1] ?? '')

const app = express()
app.use(
  domainsRouter({
    store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
    authenticate({ raw }) {
      const session = findSession(raw.headers.cookie)
      if (!session) throw new ApiError('unauthorized', 'Log in first.')
      return { type: 'team', teamId: session.teamId, scopes: ['domains:create'] }
    },
    rateLimiter: new RateLimiterMemory({ points: 60, duration: 60 }), // 60 calls a minute for each team
    onError: (error, { step, keyContext }) => console.error({ step, keyContext, error }),
  }),
)
const server = app.listen(process.env.PORT ?? 3000).on('listening', () => {
  const { port } = server.address() as { port: number }
  console.log(`curl http://localhost:${port}/v1/domains -H 'Cookie: session=s3cret' \\
  -H 'Content-Type: application/json' -d '{"domains":["www.example.com","*.example.org","localhost"]}'`)
})
