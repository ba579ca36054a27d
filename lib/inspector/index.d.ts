/** Of a request, what is read. Those of node:http, node:http2 and express have it. */
export interface InspectorRequest {
  method?: string | undefined
  url?: string | undefined
  headers: { [name: string]: string | string[] | undefined }
  socket: { remoteAddress?: string | undefined }
}

/** Of a response, what is used. Those of node:http, node:http2 and express have it. */
export interface InspectorResponse {
  writeHead(status: number, headers: { [name: string]: string | number }): unknown
  end(body: string): unknown
}

/**
 * Answers one request. `next` is what routers such as express give: their `request.url` is below the path where the
 * handler is mounted, and what is neither the page nor its data goes to `next()`, as an error in reading the locks goes
 * to `next(error)`. Without `next` whatever ends in `/data` is the data, everything else is the page, and an error is
 * answered with status 500.
 */
export type Inspector = (
  request: InspectorRequest,
  response: InspectorResponse,
  next?: (error?: unknown) => void,
) => void

/** Of a Request of the fetch style, what is read. */
export interface FetchInspectorRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/** From where a request comes: a Request does not say that, but its server does. */
export interface FetchInspectorSender {
  /** The address that the connection comes from. Without it only `allowRemote: true` answers. */
  remoteAddress?: string | undefined
}

/**
 * Resolves to the answer to one request: the data if its path ends in `/data`, else the page. An error in reading
 * the locks is an answer with status 500.
 */
export type FetchInspector = (
  request: FetchInspectorRequest,
  from?: FetchInspectorSender,
) => Promise<Response>

export interface InspectorOptions {
  /**
   * By what names, or addresses, besides `localhost`, `127.x.x.x` and `[::1]` people open the page: without a scheme and
   * without a port. Requests for any other host get a 403, so that no page of the web can give its own name the
   * address of this machine and read the locks (DNS rebinding). @default none
   */
  hosts?: readonly string[]
  /**
   * Whether requests from other machines are answered, and such as a proxy says it passes on for somebody
   * (`Forwarded`, `X-Forwarded-For`, `X-Forwarded-Host`, `X-Real-IP`, `Via`). They are for a name in `hosts` in
   * general. The page asks nobody who they are: with this, put a check of your own in front. @default false
   */
  allowRemote?: boolean
}

/**
 * A handler of requests for node:http, express, fastify and the like that serves one live page: every lock and key
 * with diagnostics (of all threads of this process) that is held or waited for, leaked and unusually long holds first,
 * who holds it since when, how many wait and how long the first of them has, how long was waited, and the deadlocks
 * that were refused. Locks without `diagnostics` are not seen. See docs/diagnostics.md.
 *
 * The page is for this machine only, unless the options say otherwise, and changes nothing: requests other than GET
 * and HEAD get 405, those of other machines, for other hosts' names or by other sites 403, malformed ones 400. A
 * proxy on this machine that does not say so hides that a request comes from elsewhere: keep the path out of what it
 * passes on, or put a check in front.
 *
 * Nothing is read while nobody looks. However many do, the locks are read some five times a second at most.
 *
 * @throws {TypeError} when an option is of the wrong type.
 * @throws {RangeError} when one of `hosts` is no host name, or has a scheme or a port.
 *
 * @example
 * const { createServer } = require('node:http')
 * const { inspector } = require('boxoffice/inspector')
 *
 * const users = new KeyedMutex({ name: 'users', diagnostics: true }) // or 'counters', without stacks
 * const inspect = inspector()
 * const server = createServer((request, response) => {
 *   if (request.url.startsWith('/locks')) return inspect(request, response)
 *   response.end('hello')
 * })
 * server.listen(0, '127.0.0.1') // a port of its own, and the page is at /locks
 * server.close()
 */
export function inspector(options?: InspectorOptions): Inspector

/**
 * The same for servers of the fetch style, whose handlers turn a `Request` into a `Response`: Hono, Bun, Deno, route
 * handlers of Next.js. The server knows the address that a request comes from: say it as `remoteAddress`. A server
 * that cannot tell, as Next.js, needs `allowRemote: true`, and a check of your own in front.
 *
 * @throws {TypeError} when an option is of the wrong type.
 * @throws {RangeError} when one of `hosts` is no host name, or has a scheme or a port.
 *
 * @example
 * const { fetchInspector } = require('boxoffice/inspector')
 *
 * const inspect = fetchInspector()
 * // In Bun: Bun.serve({ routes: { '/locks/*': show } })
 * const show = (request, server) =>
 *   inspect(request, { remoteAddress: server.requestIP(request)?.address })
 */
export function fetchInspector(options?: InspectorOptions): FetchInspector
