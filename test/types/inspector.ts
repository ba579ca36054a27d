// Compiled, never run: the handler that shows locks.
import { createServer, type RequestListener } from 'node:http'
import { createServer as createServer2 } from 'node:http2'
import {
  type FetchInspector,
  fetchInspector,
  type Inspector,
  type InspectorOptions,
  inspector,
} from 'boxoffice/inspector'

const options: InspectorOptions = { hosts: ['ops.example.com'], allowRemote: true }

function handlers() {
  const inspect: Inspector = inspector(options)
  const listener: RequestListener = inspect
  createServer(inspector())
  createServer2(inspector({}))
  createServer((request, response) => {
    inspect(request, response, (error?: unknown) => response.end(String(error)))
  })
  inspector({ hosts: ['a', 'b'] as const })
  inspector({ hosts: undefined, allowRemote: undefined })
  // @ts-expect-error a list of names
  inspector({ hosts: 'localhost' })
  // @ts-expect-error yes or no
  inspector({ allowRemote: 'yes' })
  // @ts-expect-error a request, not its URL
  inspect('/locks', {})
  return listener
}

async function fetchHandlers(request: Request) {
  const inspect: FetchInspector = fetchInspector(options)
  const response: Response = await inspect(request, { remoteAddress: '::1' })
  await fetchInspector()(request)
  await inspect(request, { remoteAddress: undefined })
  // @ts-expect-error an object with the address
  await inspect(request, '::1')
  // @ts-expect-error a request, not its URL
  await inspect('/locks')
  return response
}

export { fetchHandlers, handlers }
