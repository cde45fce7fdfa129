/** Restores dates, which JSON does not have. */
const withDates = ({ createdAt, revokedAt, expiresAt }) =>
  Object.fromEntries(
    Object.entries({ createdAt, revokedAt, expiresAt })
      .filter(([, date]) => date)
      .map(([name, date]) => [name, new Date(date)]),
  )

/**
 * The options of the server under test. The functions among these options call the test process over HTTP, so the cases
 * of the suite run unchanged for a server in any runtime. `ask-here.ts` is the counterpart in the test process.
 *
 * @param {string} settings The options, as the test process serialized them.
 */
export function createOptions(settings) {
  const { url, functions, values } = JSON.parse(settings)
  const { path = '/v1/domains', ...settled } = values
  const reports = []

  /** @param answer The answer to the question that the function asked, such as the result of `decide`. */
  async function ask(name, parameters, answer) {
    const answers = {}
    for (;;) {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify({ name, parameters, answers }) })
      const { question, value, reason, error } = await response.json()
      if (question !== undefined) answers[JSON.stringify(question)] = answer(question) ?? null
      else if (error) throw Object.assign(new Error(error.message), error)
      else if (reason !== undefined) throw reason
      else return value
    }
  }

  const stubs = {
    findTeam: teamId => ask('findTeam', [teamId]),
    register: ({ decide, ...request }) => ask('register', [request], decide),
    synchronize: registrations => ask('synchronize', [registrations]),
    findKey: async hash => {
      const record = await ask('findKey', [hash])
      return record && { ...record, ...withDates(record) }
    },
    consume: (key, points) => ask('consume', [key, points]),
    onError: ({ id, message }, { keyContext, step }) =>
      void reports.push(
        ask('onError', [
          { id, message },
          { keyContext, step },
        ]).catch(() => {}),
      ),
  }
  const pick = (...names) =>
    Object.fromEntries(names.filter(name => functions.includes(name)).map(name => [name, stubs[name]]))

  return {
    options: {
      ...settled,
      ...pick('onError'),
      store: pick('findTeam', 'register', 'synchronize'),
      ...(functions.includes('findKey') && { keys: pick('findKey') }),
      ...(functions.includes('consume') && { rateLimiter: { ...values.rateLimiter, ...pick('consume') } }),
    },
    path,
    /**
     * Resolves when the test process has received all failures so far. If a response waits for this promise, the test's
     * `onError` is called before the response arrives.
     */
    reported: () => Promise.all(reports),
  }
}
