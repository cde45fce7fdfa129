import { json } from 'node:stream/consumers'
import type { FailureContext, HandlerOptions } from '../../src/http/index.ts'
import type { Name } from '../../src/index.ts'
import { listen } from '../listen.ts'

type Answers = Record<string, unknown>

/** Thrown by a function that cannot continue without an answer from its caller, which is in another process. */
class Question {
  readonly content: unknown
  constructor(content: unknown) {
    this.content = content
  }
}

/**
 * Lets a server in another process call the functions of these options over HTTP. Some of these functions need a result
 * from the server's process: a store, for example, needs the result of `decide`. A function that needs a result throws
 * a {@link Question}, and is called again with the answer.
 *
 * @returns The settings from which the server creates its options, as text in one line.
 */
export async function askHere(options: HandlerOptions & { path?: string }) {
  const { store, keys, rateLimiter, onError } = options
  const errors: unknown[] = []

  const functions: Record<string, (answers: Answers, ...parameters: never[]) => unknown> = {
    findTeam: (_, teamId: string) => store.findTeam(teamId),
    register: (answers, request: Omit<Parameters<typeof store.register>[0], 'decide'>) =>
      store.register({ ...request, decide: found => answerTo(found, answers) as readonly Name[] }),
    ...(store.synchronize && { synchronize: (_, registrations: never) => store.synchronize?.(registrations) }),
    ...(keys && { findKey: (_, hash: string) => keys.findKey(hash) }),
    ...(rateLimiter && { consume: (_, key: string, points: number) => rateLimiter.consume(key, points) }),
    ...(onError && {
      onError: (_, { id, message }: { id?: number; message: string }, context: FailureContext) =>
        onError(id === undefined ? new Error(message) : errors[id], context),
    }),
  }

  async function call(name: string, answers: Answers, parameters: unknown[]) {
    try {
      return { value: (await functions[name]?.(answers, ...(parameters as never[]))) ?? null }
    } catch (error) {
      if (error instanceof Question) return { question: error.content }
      if (!(error instanceof Error)) return { reason: error }
      return { error: { id: errors.push(error) - 1, message: error.message } }
    }
  }

  const { origin, close } = await listen(async (request, response) => {
    const { name, answers, parameters } = (await json(request)) as never
    response.end(JSON.stringify(await call(name, answers, parameters)))
  })
  const { points, duration } = rateLimiter ?? {}
  const { path, bodyLimit, bodyTimeLimit, timeLimit, keyPrefix } = options
  return {
    settings: JSON.stringify({
      url: origin,
      functions: Object.keys(functions),
      values: {
        path,
        bodyLimit,
        bodyTimeLimit,
        timeLimit,
        keyPrefix,
        ...(rateLimiter && { rateLimiter: { points, duration } }),
      },
    }),
    close,
  }
}

function answerTo(question: unknown, answers: Answers): unknown {
  const asked = JSON.stringify(question)
  if (!Object.hasOwn(answers, asked)) throw new Question(question)
  return answers[asked]
}
