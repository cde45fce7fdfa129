import type { ServerResponse } from 'node:http'
import { type Rules, requireOptions } from '../options.ts'
import { deliver } from './deliver.ts'
import { createHandler } from './handler.ts'
import { abandonBody, cutOff, type NodeRequest, readNodeBody, readNodeHeader } from './node-body.ts'
import {
  DEFAULT_BODY_TIME_LIMIT,
  DEFAULT_OPERATIONS,
  DEFAULT_PAGE_TIME_LIMIT,
  type HandlerOptions,
  handlerRules,
  type PathOption,
  pathRule,
  toPath,
  withoutTrailingSlash,
} from './options.ts'
import { type AdapterRequest, type HandlerRequest, type OperationName, readQuery } from './request.ts'
import type { HandlerResponse } from './response.ts'
import { findOperation } from './routes.ts'

/** A request to one of our operations, on a Node server. */
interface Exchange<Raw> {
  readonly operation: OperationName
  /** The framework's request. */
  readonly raw: Raw
  /** Node's own request and response. */
  readonly request: NodeRequest
  readonly response: ServerResponse
  /** Default: reads the body of the request, or uses the result of your server's body parser. */
  readonly readBody?: HandlerRequest['readBody'] | undefined
}

/**
 * The code that the adapters for Node frameworks share: checks the options, finds the operation of a request, and
 * creates the response. An adapter only turns its framework's request into an {@link Exchange}, and writes the
 * response.
 *
 * @param rules The rules for the options that only this adapter accepts.
 * @throws {TypeError} if an option is missing, invalid or unknown.
 */
export function mountOnNode<Raw>(options: HandlerOptions<AdapterRequest<Raw>> & PathOption, rules: Rules = {}) {
  requireOptions(options, { ...handlerRules, path: pathRule, ...rules })
  const { operations: offered = DEFAULT_OPERATIONS } = options
  const { bodyTimeLimit = DEFAULT_BODY_TIME_LIMIT, pageTimeLimit = DEFAULT_PAGE_TIME_LIMIT } = options
  const handleRequest = createHandler(pickHandlerOptions(options))
  const path = toPath(options)

  return {
    /** @param requested The path of the request, below the mount point and without the query. */
    route: (method: string, requested: string): OperationName | undefined =>
      findOperation(offered, path, method, withoutTrailingSlash(requested)),

    /** @returns The response to write; `null` if the application has responded already, or the caller disconnected. */
    async handle({ operation, raw, request, response, readBody }: Exchange<Raw>): Promise<HandlerResponse | null> {
      const handled = await handleRequest({
        header: name => readNodeHeader(request, name),
        readBody: readBody ?? (limit => readNodeBody(request, limit)),
        raw,
        id: readId(raw),
        operation,
        query: readQuery(request.url ?? ''),
      })
      if (response.headersSent || response.destroyed) return null
      abandonBody(request, response, handled.status, bodyTimeLimit)
      const { stream } = handled
      if (!stream) return handled
      const delivery = { timeLimit: pageTimeLimit, cutOff: () => cutOff(response) }
      return { ...handled, stream: deliver(stream, delivery) }
    },
  }
}

/** Fastify gives each request an ID, and so does middleware such as pino-http. */
function readId(raw: unknown): string | undefined {
  const { id } = raw as { id?: unknown }
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}

const pickHandlerOptions = <Options extends object>(options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(handlerRules, name))) as Options
