'use strict'
// Reads requests, and decides whether the sender may see the page: all untrusted input is read here.
//
// It refuses three kinds of senders, each by a property that the sender cannot forge:
// - another machine, by the address of its connection, or by the headers of a proxy;
// - a web page whose own host name resolves to this machine (DNS rebinding), by the Host, which still is that name;
// - a web page that sends requests to this machine's name, by Sec-Fetch-Site and Origin, which the browser sets.

class Refusal extends Error {
  constructor(status, message, headers = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

const loopbackAddress = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::1$/
const loopbackName = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
const hostAndPort = /^(?<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
/** The headers by which proxies, load balancers and content delivery networks name the sender or themselves. */
const forwarded = [
  'forwarded',
  'via',
  'forwarded-for',
  'x-forwarded',
  'x-forwarded-by',
  'x-forwarded-client-cert',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-forwarded-scheme',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'true-client-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'do-connecting-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-nf-client-connection-ip',
  'x-vercel-forwarded-for',
  'cloudfront-viewer-address',
  'cdn-loop',
]

/** Returns the kind of sender by the address of its connection. */
const senderAt = (address) => (loopbackAddress.test(address) ? 'local' : 'remote')

/**
 * Throws a Refusal unless the sender of the request may see the page. `header(name)` returns a header, or undefined.
 * `sender` is 'local', 'remote', or 'unknown' if the server does not tell.
 */
function checkAllowed({ method, host, header, sender }, { hosts, allowRemote }) {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new Refusal(405, 'The inspector only shows: GET and HEAD.', { allow: 'GET, HEAD' })
  }
  const name = hostAndPort.exec(host ?? '')?.groups.name.toLowerCase()
  if (name === undefined) throw new Refusal(400, 'The Host of this request is malformed.')
  if (!allowRemote) checkLocal(header, sender)
  if (!loopbackName.test(name) && !hosts.has(name)) {
    throw new Refusal(403, `The inspector is not known as ${name} here: see the option hosts.`)
  }
  checkSameSite(header, host)
}

function checkLocal(header, sender) {
  if (sender === 'remote' || forwarded.some((name) => header(name) !== undefined)) {
    throw new Refusal(403, 'This comes from another machine: see the option allowRemote.')
  }
  if (sender === 'unknown') {
    const advice = 'give the inspector its remoteAddress, or see the option allowRemote.'
    throw new Refusal(403, `This may come from another machine: ${advice}`)
  }
}

function checkSameSite(header, host) {
  const site = header('sec-fetch-site') ?? 'none'
  const origin = header('origin')
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`
  if ((site !== 'none' && site !== 'same-origin') || !isOwn) {
    throw new Refusal(403, 'Another site asks for this: open the inspector by its address.')
  }
}

const mostRows = 100_000
const longestFilter = 200

/**
 * Returns the route of the URL: { route: 'page' or 'data', top, filter }, or undefined if it is neither. Under a router
 * that removes its own prefix from the URL (`isMounted`) there are exactly two paths. Otherwise the last segment
 * decides.
 */
function readUrl(text, isMounted) {
  if (typeof text !== 'string' || !/^\/(?!\/)[\x21-\x7e]*$/.test(text)) {
    throw new Refusal(400, 'The URL of this request is malformed.')
  }
  const [raw, query] = cut(text, '?')
  const path = decode(raw)
  const part = path.slice(isMounted ? 1 : path.lastIndexOf('/') + 1)
  if (isMounted && part !== '' && part !== 'data') return undefined
  return { route: part === 'data' ? 'data' : 'page', ...readQuery(query) }
}

function readQuery(query) {
  const asked = { top: 10_000, filter: '' }
  const seen = new Set()
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name, value] = cut(pair, '=').map((part) => decode(part.replaceAll('+', ' ')))
    if (seen.has(name)) throw new Refusal(400, 'The query names something twice.')
    seen.add(name)
    if (name === 'top') asked.top = readTop(value)
    else if (name === 'filter') asked.filter = readFilter(value)
    else throw new Refusal(400, 'The query may have top and filter, and nothing else.')
  }
  return asked
}

/** Returns the parts before and after the first `mark`. */
function cut(text, mark) {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function readTop(value) {
  const top = /^\d{1,6}$/.test(value) ? Number(value) : 0
  if (top < 1 || top > mostRows) {
    throw new Refusal(400, `top must be an integer from 1 to ${mostRows}.`)
  }
  return top
}

function readFilter(value) {
  if (value.length > longestFilter) {
    throw new Refusal(400, `filter must have at most ${longestFilter} characters.`)
  }
  return value
}

function decode(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal(400, 'The URL of this request is malformed.')
  }
}

module.exports = { checkAllowed, readUrl, Refusal, senderAt }
