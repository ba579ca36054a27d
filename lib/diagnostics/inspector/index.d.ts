/**
 * A live page of the locks of a process.
 *
 * @module boxoffice/inspector
 */

/** The part of a request that the inspector reads. Requests of node:http, node:http2 and express have it. */
export interface InspectorRequest {
  method?: string | undefined
  url?: string | undefined
  headers: { [name: string]: string | string[] | undefined }
  socket: { remoteAddress?: string | undefined }
}

/** The part of a response that the inspector uses. Responses of node:http, node:http2 and express have it. */
export interface InspectorResponse {
  writeHead(status: number, headers: { [name: string]: string | number }): unknown
  end(body: string): unknown
}

/**
 * Answers one request.
 *
 * With `next`, as routers like express call it, `request.url` is relative to the path where the handler is mounted.
 * Requests for neither the page nor its data go to `next()`, and an error in reading the locks goes to `next(error)`.
 *
 * Without `next` a path that ends in `/data` gets the data, every other path gets the page, and an error is answered
 * with status 500.
 */
export type Inspector = (
  request: InspectorRequest,
  response: InspectorResponse,
  next?: (error?: unknown) => void,
) => void

/** The part of a fetch-style Request that the inspector reads. */
export interface FetchInspectorRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/** The sender of a request. A Request does not contain it, but its server knows it. */
export interface FetchInspectorSender {
  /** The remote address of the connection. Without it every request is refused, unless `allowRemote` is true. */
  remoteAddress?: string | undefined
}

/**
 * Answers one request: with the data if its path ends in `/data`, else with the page. An error in reading the locks is
 * answered with status 500.
 */
export type FetchInspector = (
  request: FetchInspectorRequest,
  from?: FetchInspectorSender,
) => Promise<Response>

export interface InspectorOptions {
  /**
   * The host names or addresses of the page besides `localhost`, `127.x.x.x` and `[::1]`, without a scheme and a port.
   * Requests for any other host get a 403. So no web page can point its own host name at this machine and read the
   * locks (DNS rebinding).
   *
   * @default none
   */
  hosts?: readonly string[] | undefined
  /**
   * Whether to answer requests from other machines, and requests that a proxy has forwarded (with a header such as
   * `Forwarded`, `Via`, `X-Forwarded-For`, `X-Real-IP`, `X-Client-IP` or `CF-Connecting-IP`). The host name of such requests
   * usually has to be in `hosts`. The page has no authentication: put your own in front when you set this.
   *
   * @default false
   */
  allowRemote?: boolean | undefined
}

/**
 * Makes a request handler for node:http, express, fastify and others. It serves one live page. The page shows, for all
 * threads of this process, every lock and key with `diagnostics` that is held or waited for: its holders and the times
 * of their grants, its waiters, the oldest wait, and wait times. It also shows the deadlocks that were prevented.
 * Leaked and long holds come first. See docs/inspector.md.
 *
 * The page only reads. By default it answers only this machine: requests from other machines, for other host names and
 * from other sites get 403; methods other than GET and HEAD get 405; malformed requests get 400. A proxy on this
 * machine that adds no header hides the real sender: do not let it forward the path, or put authentication in front.
 *
 * The process reads the locks only while a page is open, and at most five times a second for all pages together. Pages
 * with the same filter share one report, and each report takes a separate turn of the event loop.
 *
 * @throws {TypeError} when an option is of the wrong type.
 * @throws {RangeError} when an element of `hosts` is not a host name, or has a scheme or a port.
 *
 * @example
 * import { createServer } from 'node:http'
 * import { inspector } from 'boxoffice/inspector'
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
 * As {@link inspector}, for servers whose handlers turn a `Request` into a `Response`: Hono, Bun, Deno, route handlers
 * of Next.js. Pass the sender's address, which the server knows, as `remoteAddress`. If the server does not tell it, as
 * in Next.js, set `allowRemote: true` and put your own authentication in front.
 *
 * @throws {TypeError} when an option is of the wrong type.
 * @throws {RangeError} when an element of `hosts` is not a host name, or has a scheme or a port.
 *
 * @example
 * import { fetchInspector } from 'boxoffice/inspector'
 *
 * const inspect = fetchInspector()
 * // In Bun: Bun.serve({ routes: { '/locks/*': show } })
 * const show = (request, server) =>
 *   inspect(request, { remoteAddress: server.requestIP(request)?.address })
 */
export function fetchInspector(options?: InspectorOptions): FetchInspector
