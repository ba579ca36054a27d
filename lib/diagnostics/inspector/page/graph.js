// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// A deadlock as a ring: each call chain waits for a lock (dashed) that the next chain holds.

const box = { width: 140, height: 42 }
const longestLabel = 20

const shorten = (text) =>
  text.length <= longestLabel ? text : `${text.slice(0, longestLabel - 1)}…`

const letter = (i) => (i < 26 ? String.fromCharCode(65 + i) : String(i + 1))
const chainOf = ({ thread }, i) => [
  `chain ${letter(i)}`,
  thread === 0 ? 'main thread' : `thread ${thread}`,
]
const lockOf = ({ kind, name, key }) =>
  key === undefined ? [name ?? 'no name', kind] : [key, titleOf({ kind, name })]

/** Returns places on an ellipse for chain, lock, chain, lock ... */
function placesOf(count) {
  const width = Math.max(160, (count * (box.width + 24)) / 5.8)
  const height = Math.max(90, width * 0.48)
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2
    return { x: width * Math.cos(angle), y: height * Math.sin(angle) }
  })
}

/** Returns the point where the line between two boxes leaves the first. */
function edgeOf(from, to, gap) {
  const [x, y] = [to.x - from.x, to.y - from.y]
  const part = Math.min(
    (box.width / 2 + gap) / Math.abs(x || 1e-9),
    (box.height / 2 + gap) / Math.abs(y || 1e-9),
  )
  return `${(from.x + x * part).toFixed(1)} ${(from.y + y * part).toFixed(1)}`
}

function arrow(id) {
  const tip = drawing('path', { d: 'M0 0L8 4L0 8z' })
  const size = { markerWidth: 8, markerHeight: 8, refX: 6, refY: 4, orient: 'auto' }
  return drawing('marker', { id, class: id, markerUnits: 'userSpaceOnUse', ...size }, tip)
}

function node({ x, y }, [title, below], className) {
  const { width, height } = box
  const place = { x: x - width / 2, y: y - height / 2, width, height, rx: className ? 22 : 6 }
  return drawing(
    'g',
    {},
    drawing('title', {}, `${title}, ${below}`),
    drawing('rect', { ...place, class: className }),
    drawing('text', { x, y: y - 2 }, shorten(title)),
    drawing('text', { x, y: y + 14, class: 'soft' }, shorten(below)),
  )
}

/** The message without its stacks. */
const headlineOf = ({ message }) => message.split('\n', 1)[0]

function ringOf(deadlock) {
  const { cycle } = deadlock
  const nodes = cycle.flatMap((chain, i) => [
    { text: chainOf(chain, i), className: 'chain' },
    { text: lockOf(chain.waitsFor), className: '' },
  ])
  const places = placesOf(nodes.length)
  const [x, y] = ['x', 'y'].map((axis) => Math.max(...places.map((place) => place[axis])))
  const [left, top] = [x + box.width / 2 + 4, y + box.height / 2 + 4]
  const svg = drawing('svg', {
    ...{ role: 'img', 'aria-label': headlineOf(deadlock) },
    ...{ viewBox: `${-left} ${-top} ${2 * left} ${2 * top}`, width: 2 * left, height: 2 * top },
  })
  svg.append(drawing('defs', {}, arrow('waits'), arrow('holds')))
  for (const [i, from] of places.entries()) {
    const to = places[(i + 1) % places.length]
    const kind = i % 2 === 0 ? 'waits' : 'holds'
    const d = `M${edgeOf(from, to, 2)}L${edgeOf(to, from, 4)}`
    svg.append(drawing('path', { d, class: `edge ${kind}`, 'marker-end': `url(#${kind})` }))
  }
  for (const [i, { text, className }] of nodes.entries()) {
    svg.append(node(places[i], text, className))
  }
  return svg
}

/** Makes the figure of a deadlock, unfolded. Its button calls `onDismiss`. */
function figureOf(deadlock, stacks, onDismiss) {
  const figure = element('figure')
  const fold = element('details')
  const words = element('details')
  words.append(element('summary', 'In words, with stacks'), element('p', headlineOf(deadlock)))
  const shown = new Set()
  for (const [i, chain] of deadlock.cycle.entries()) {
    const [title, thread] = chainOf(chain, i)
    words.append(element('h3', `${title}, ${thread}`))
    words.append(...placeOf('waits for', chain.waitsFor, stacks, shown))
    for (const held of chain.holds) words.append(...placeOf('holds', held, stacks, shown))
  }
  const when = `${timeOf(deadlock.at)}, ${numberOf(deadlock.cycle.length, 'chain')}`
  const legend = element('p', 'Dashed: waits for. Solid: held by.')
  fold.append(element('summary', when), ringOf(deadlock), legend, words)
  fold.open = true
  const button = element('button', 'Dismiss')
  button.type = 'button'
  button.addEventListener('click', onDismiss)
  figure.append(fold, button)
  return figure
}

/** Returns a lock and the place of its acquire. Does not repeat a stack that is in `shown`. */
function placeOf(verb, lock, stacks, shown) {
  const key = lock.key === undefined ? '' : `, key ${lock.key}`
  const isRepeated = shown.has(lock.stack)
  const place = isRepeated ? ', at a place shown above' : ''
  const said = [element('p', `${verb} ${titleOf(lock)}${key}${place}`)]
  if (lock.stack === undefined || isRepeated) return said
  shown.add(lock.stack)
  return [...said, element('pre', stacks[lock.stack])]
}
