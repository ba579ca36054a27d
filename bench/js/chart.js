// A log-log line chart as SVG text: in light and dark, readable even as a plain image.

const width = 760
const height = 460
const box = { left: 92, right: 604, top: 52, bottom: 396 }
const labelHeight = 15

// Distinct in light and dark; each line also has its name, for readers who see no difference.
const hues = {
  boxoffice: ['#0b57d0', '#8ab4f8'],
  'boxoffice, lock()': ['#0891b2', '#67e8f9'],
  'boxoffice, lockSync()': ['#0b57d0', '#8ab4f8'],
  'boxoffice, one thread': ['#0b57d0', '#8ab4f8'],
  'boxoffice, threads': ['#137333', '#81c995'],
  'boxoffice, processes': ['#c5221f', '#f28b82'],
  'article, lock()': ['#b06000', '#fdbb6b'],
  'article, lockAsync()': ['#c5221f', '#f28b82'],
  'flock of fs-ext': ['#b06000', '#fdbb6b'],
  'fs-native-extensions': ['#c5221f', '#f28b82'],
  'async-mutex': ['#c5221f', '#f28b82'],
  'async-lock': ['#b06000', '#fdbb6b'],
  'async-sema': ['#137333', '#81c995'],
  'await-lock': ['#8430ce', '#c58af9'],
  superlock: ['#b80672', '#ff8bcb'],
  'p-limit': ['#5f6368', '#bdc1c6'],
  floor: ['#9aa0a6', '#80868b'],
  Redis: ['#c5221f', '#f28b82'],
  PostgreSQL: ['#0b57d0', '#8ab4f8'],
  etcd: ['#137333', '#81c995'],
}

/** `lines` are { name, points: [[x, y], ...] }, all of them positive. The marks of the x axis are `ticks`, or powers of ten. */
function drawChart({ title, across, up, lines, ticks }) {
  const points = lines.flatMap((line) => line.points)
  const scaleX = logScale(
    points.map(([x]) => x),
    box.left,
    box.right,
    ticks,
  )
  const scaleY = logScale(
    points.map(([, y]) => y),
    box.bottom,
    box.top,
  )
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<style>${styles(lines)}</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="8"/>`,
    `<text class="title" x="${box.left}" y="30">${title}</text>`,
    ...gridX(scaleX),
    ...gridY(scaleY),
    `<text class="axis" x="${(box.left + box.right) / 2}" y="${box.bottom + 42}" text-anchor="middle">${across}</text>`,
    `<text class="axis" transform="translate(20 ${(box.top + box.bottom) / 2}) rotate(-90)" text-anchor="middle">${up}</text>`,
    ...drawLines(lines, scaleX, scaleY),
    '</svg>',
  ].join('\n')}\n`
}

/** Maps values from one position of the picture to another, between the first and the last of the ticks. */
function logScale(values, from, to, ticks = powersOfTen(values)) {
  const first = Math.log10(ticks[0])
  const last = Math.log10(ticks.at(-1))
  const place = (value) => from + ((Math.log10(value) - first) / (last - first)) * (to - from)
  return { place, ticks }
}

/** Those around the values. */
function powersOfTen(values) {
  const first = Math.floor(Math.log10(Math.min(...values)))
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))))
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i))
}

function gridX({ place, ticks }) {
  return ticks.flatMap((tick) => {
    const x = short(place(tick))
    return [
      `<path class="grid" d="M${x} ${box.top}V${box.bottom}"/>`,
      `<text x="${x}" y="${box.bottom + 19}" text-anchor="middle">${label(tick)}</text>`,
    ]
  })
}

function gridY({ place, ticks }) {
  return ticks.flatMap((tick) => {
    const y = short(place(tick))
    return [
      `<path class="grid" d="M${box.left} ${y}H${box.right}"/>`,
      `<text x="${box.left - 8}" y="${y + 4}" text-anchor="end">${label(tick)}</text>`,
    ]
  })
}

function drawLines(lines, scaleX, scaleY) {
  const placed = lines.map(({ name, points }) => ({
    name,
    points: points.map(([x, y]) => [short(scaleX.place(x)), short(scaleY.place(y))]),
  }))
  const names = apart(placed)
  // This library last, so that it is on top.
  return placed.toReversed().flatMap(({ name, points }) => {
    const [x, y] = points.at(-1)
    const labelY = names.get(name)
    return [
      `<g class="${className(name)}">`,
      `<path class="line" d="M${points.map((point) => point.join(' ')).join('L')}"/>`,
      ...points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3"/>`),
      `<path class="leader" d="M${x + 5} ${y}L${box.right + 14} ${labelY}"/>`,
      `<text class="name" x="${box.right + 18}" y="${labelY + 4}">${name}</text>`,
      '</g>',
    ]
  })
}

/** The positions of the names: at the ends of their lines, moved apart if they would overlap. */
function apart(lines) {
  const byHeight = lines.toSorted((a, b) => a.points.at(-1)[1] - b.points.at(-1)[1])
  const places = byHeight.map(({ points }) => points.at(-1)[1])
  for (let i = 1; i < places.length; ++i) {
    places[i] = Math.max(places[i], places[i - 1] + labelHeight)
  }
  for (let i = places.length - 1, lowest = box.bottom; i >= 0; --i, lowest -= labelHeight) {
    places[i] = Math.min(places[i], lowest)
  }
  return new Map(byHeight.map(({ name }, i) => [name, short(places[i])]))
}

function styles(lines) {
  const inks = (shade) =>
    lines.map(({ name }) => `.${className(name)}{color:${hues[name][shade]}}`).join('')
  return [
    'text{font:12px system-ui,sans-serif;fill:#444746}',
    '.title{font-size:16px;font-weight:600;fill:#1f1f1f}.axis{font-size:13px}',
    '.paper{fill:#fff}.grid{stroke:#e3e3e3}',
    '.line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}',
    '.boxoffice .line{stroke-width:3.2}.boxoffice .name{font-weight:700}',
    'circle,.name{fill:currentColor}.leader{stroke:currentColor;opacity:.45}',
    inks(0),
    '@media (prefers-color-scheme:dark){text{fill:#c4c7c5}.title{fill:#e3e3e3}',
    '.name{fill:currentColor}.paper{fill:#131314}.grid{stroke:#333537}',
    `${inks(1)}}`,
  ].join('')
}

function className(name) {
  return name.replace(/\W+/g, '-').replace(/-$/, '')
}

function label(number) {
  return number.toLocaleString('en-US')
}

function short(number) {
  return Math.round(number * 10) / 10
}

module.exports = { drawChart }
