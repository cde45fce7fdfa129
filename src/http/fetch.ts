import { isApiError } from '../errors/api-error.ts'
import { bodyCutShort, invalidRequest, methodNotAllowed, notFound, payloadTooLarge } from '../errors/call-errors.ts'
import { takePieces } from './export.ts'
import { openAdapter } from './handler.ts'
import { type HandlerOptions, type PathOption, withoutTrailingSlash } from './options.ts'
import {
  type AdapterRequest,
  createChunks,
  MOST_DISCARDED_BYTES,
  MOST_DISCARDED_TIME,
  type OperationName,
  type RequestBody,
  readBefore,
  readPath,
  readQuery,
  stopsReading,
} from './request.ts'
import { respondWithError } from './response.ts'
import { operations } from './routes.ts'

/** A request, with the context that your framework passes along. */
export interface FetchRequest<Context = unknown> extends AdapterRequest<Request> {
  /** The second argument of the handler: Hono's context, SvelteKit's `locals`, the `env` of a Worker. */
  readonly context: Context
}

/** Options of {@link domainsHandler}. */
export type DomainsHandlerOptions<Context = unknown> = HandlerOptions<FetchRequest<Context>> & PathOption

/** The function that {@link domainsHandler} returns. A context is required if the options declare its type. */
export type DomainsHandler<Context = unknown> = (
  request: Request,
  ...rest: unknown extends Context ? [context?: unknown] : [context: Context]
) => Promise<Response>

/**
 * Creates a function that takes a `Request` of the Fetch API and returns a `Response`, for Hono, Next.js, Bun, Deno,
 * Workers and other servers with this API.
 *
 * Route a path of your server to this function and, with the option `operations`, also the paths below it. The URL's
 * path must end with the value of `path`, or with this value followed by the suffix of an operation that you offer. One
 * trailing slash is allowed. The path is not decoded, but a `Request` has already resolved dot segments:
 * `/v1/domains/preview/..` and `…/%2e%2e` become `/v1/domains`. So a gateway in front that permits only some paths must
 * also resolve dot segments. Before anything else is checked, any other path gets 404 `not_found`, and any other method
 * gets 405 `method_not_allowed`. The body must still be unread.
 *
 * A body with a `Content-Length` is read in one piece, because an HTTP server never delivers more bytes than this
 * header says. In a `Request` that you create yourself, omit the header or set it correctly: a longer body is rejected
 * only after all of it has been read.
 *
 * @example <caption>Hono, with and without a trailing slash</caption>
 * const handle = domainsHandler({ store, keys })
 * const app = new Hono({ strict: false })
 * app.post('/v1/domains', context => handle(context.req.raw))
 *
 * @example <caption>Hono, with the user that your middleware identified</caption>
 * type Context = { var: { teamId?: string } }
 * const handle = domainsHandler<Context>({
 *   store,
 *   authenticate({ context }) {
 *     if (!context.var.teamId) throw new ApiError('unauthorized', 'Log in first.')
 *     return { type: 'team', teamId: context.var.teamId, scopes: ['domains:create'] }
 *   },
 * })
 * const app = new Hono<{ Variables: { teamId: string } }>()
 * app.post('/v1/domains', context => handle(context.req.raw, context))
 *
 * @example <caption>Next.js, in app/v1/domains/route.ts</caption>
 * export const POST = domainsHandler({ store, keys })
 *
 * @example <caption>Bun</caption>
 * Bun.serve({ routes: { '/v1/domains': domainsHandler({ store, keys }) } })
 *
 * @example <caption>Deno</caption>
 * const handle = domainsHandler({ store, keys })
 * Deno.serve(request => handle(request))
 *
 * @example <caption>Workers: a call runs to its end even if the caller disconnects</caption>
 * const handle = domainsHandler({ store, keys })
 *
 * export default {
 *   fetch(request, env, context) {
 *     const answer = handle(request)
 *     context.waitUntil(answer)
 *     return answer
 *   },
 * } satisfies ExportedHandler
 *
 * @returns A function that takes the request and an optional context, which `authenticate` and `onError` get as
 *   `request.context`. Its promise never rejects.
 * @throws {TypeError} if an option is missing, invalid or unknown; the message says what to pass instead.
 */
export function domainsHandler<Context = unknown>(options: DomainsHandlerOptions<Context>): DomainsHandler<Context> {
  const { handle, path, offered, pageTimeLimit } = openAdapter(options)

  return async function domainsHandler(request, ...[context]) {
    const reading = createReading(request)
    const { operation, methods } = route(request, path, offered)
    const { status, headers, body, stream } = operation
      ? await handle({
          header: name => request.headers.get(name),
          readBody: reading.read,
          raw: request,
          context: context as Context,
          operation,
          query: readQuery(request.url),
        })
      : respondWithError(methods.length === 0 ? notFound() : methodNotAllowed(methods))
    const isRead = await reading.finish(status)
    // Every HTTP/1.1 request has a `Host` (RFC 9112, section 3.2). A request without `Host` may have come over
    // HTTP/2, which has no `Connection` (RFC 9113, section 8.2.2).
    if (stopsReading(status) && !isRead && request.headers.has('host')) headers.Connection = 'close'
    return new Response(stream ? toWebStream(stream, pageTimeLimit) : body, { status, headers })
  }
}

/** Finds the operation by the method and the end of the path. */
function route({ method, url }: Request, path: string, offered: readonly OperationName[]) {
  const requested = withoutTrailingSlash(readPath(url))
  const isHere = (own: string) => (path === '' ? requested === own : requested.endsWith(own))
  const here = offered.filter(name => isHere(path + operations[name].suffix))
  const operation = here.find(name => operations[name].method === method)
  return { operation, methods: here.map(name => operations[name].method) }
}

function toWebStream(pieces: AsyncIterable<string>, timeLimit: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let taken: ReturnType<typeof takePieces>
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        taken = takePieces(pieces, timeLimit, () => {
          controller.error(new Error('The caller did not read the export in time'))
          void taken.end()
        })
      },
      async pull(controller) {
        const { done, value } = await taken.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: () => taken.end(),
    },
    { highWaterMark: 0 },
  )
}

/** Accesses `request.body` only when reading begins: on Node, the access alone creates a web stream. */
function createReading(request: Request) {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let isRead = false

  /** Reads a body of unknown length. */
  async function readChunks(limit: number): Promise<Uint8Array> {
    const body = openBody(request)
    if (body?.locked) throw readBefore()
    const chunks = createChunks(limit)
    reader = body?.getReader()
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) chunks.add(read.value)
    return chunks.toBytes()
  }

  /** Reads what is left of a body, up to a limit. @returns Whether that was all. */
  async function discard(): Promise<boolean> {
    if (hasKnownLength(request)) {
      if (request.bodyUsed || Number(request.headers.get('content-length')) > MOST_DISCARDED_BYTES) return false
      await request.arrayBuffer()
      return true
    }
    reader ??= request.body?.getReader()
    for (let bytes = 0; bytes <= MOST_DISCARDED_BYTES; ) {
      const read = await reader?.read()
      if (!read || read.done) return true
      bytes += read.value.byteLength
    }
    return false
  }

  return {
    async read(limit: number): Promise<RequestBody> {
      if (request.bodyUsed) throw readBefore()
      let bytes: Uint8Array
      try {
        bytes = isReadAtOnce(request) ? new Uint8Array(await request.arrayBuffer()) : await readChunks(limit)
        isRead = true
      } catch (error) {
        if (isApiError(error)) throw error
        // If `arrayBuffer` throws without reading anything, other code is reading the body
        // (https://fetch.spec.whatwg.org/#body-unusable). Servers on Node may notice this only when they read.
        if (
          !request.bodyUsed ||
          (error instanceof TypeError && /^Body (?:is unusable|(?:has )?already)/.test(error.message))
        )
          throw readBefore()
        // SvelteKit and others have a limit of their own, and fail with this status.
        throw (error as { status?: unknown } | undefined)?.status === 413 ? payloadTooLarge() : bodyCutShort()
      }
      // Some frameworks return an empty body where other code has read it.
      if (bytes.length === 0 && hasKnownLength(request) && Number(request.headers.get('content-length')) > 0)
        throw readBefore()
      return { bytes }
    },

    /**
     * Ends reading. What is left of a body is read first and discarded, up to a limit: a peer that is still sending
     * when its connection ends may never see the response. Over HTTP/2, what a peer could not send counts against its
     * connection, until all later calls on it fail.
     *
     * @returns Whether the whole body was read.
     */
    async finish(status: number): Promise<boolean> {
      if (isRead || request.method === 'GET' || request.method === 'HEAD') return true
      let timer: ReturnType<typeof setTimeout> | undefined
      const tooLate = new Promise<false>(resolve => {
        timer = setTimeout(resolve, MOST_DISCARDED_TIME, false)
      })
      // A body that did not arrive in time is not waited for again.
      const whole = status !== 408 && (await Promise.race([discard().catch(() => false), tooLate]))
      clearTimeout(timer)
      reader?.cancel().catch(() => {})
      return whole
    },
  }
}

/**
 * Whether the length of the body is known. The handler has already checked a known length against the limit. The server
 * reads as many bytes as `Content-Length` says, unless `Transfer-Encoding` overrides it (RFC 9112, section 6.3). A body
 * of known length is read in one piece, which is faster than reading the chunks of a web stream.
 */
const hasKnownLength = ({ headers }: Request) => headers.has('content-length') && !headers.has('transfer-encoding')

/** Returns whether the body is read in one piece, as every body is in Firefox, which has no `Request.body`. */
const isReadAtOnce = (request: Request) => hasKnownLength(request) || openBody(request) === undefined

/** Hono on Node creates the stream here, and cannot if no URL may have the `Host` of the request. */
function openBody(request: Request): Request['body'] {
  try {
    return request.body
  } catch (cause) {
    throw invalidRequest('The "Host" of the request is invalid.', cause)
  }
}
