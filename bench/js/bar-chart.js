// Horizontal bars as SVG text, in panels one above the other: in light and dark, readable even as a
// plain image.

const width = 760
const bars = { left: 190, right: 660 }
const barHeight = 18
const rowHeight = 28
const headHeight = 46
const footHeight = 44

/**
 * `panels` are { title, bars: [{ name, value, isOurs }] }, each with its own linear axis from 0.
 * `unit` labels the axes, and `text(value)` the end of a bar.
 */
function drawBars({ title, unit, text, panels }) {
  let top = 56
  const placed = panels.map((panel) => {
    const place = { ...panel, top, bottom: top + headHeight + panel.bars.length * rowHeight }
    top = place.bottom + footHeight
    return place
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<style>${styles}</style>`,
    `<rect class="paper" width="${width}" height="${top}" rx="8"/>`,
    `<text class="title" x="24" y="34">${title}</text>`,
    ...placed.flatMap((panel) => drawPanel(panel, unit, text)),
    '</svg>',
  ].join('\n')}\n`
}

function drawPanel({ title, bars: all, top, bottom }, unit, text) {
  const step = stepOf(Math.max(...all.map(({ value }) => value)))
  const steps = Math.ceil(Math.max(...all.map(({ value }) => value)) / step)
  const xOf = (value) => short(bars.left + (value / (steps * step)) * (bars.right - bars.left))
  const first = top + headHeight - 12
  const ticks = Array.from({ length: steps + 1 }, (_, i) => i * step)
  return [
    `<text class="panel" x="24" y="${top + 16}">${title}</text>`,
    ...ticks.flatMap((tick) => [
      `<path class="grid" d="M${xOf(tick)} ${first}V${bottom}"/>`,
      `<text class="tick" x="${xOf(tick)}" y="${bottom + 16}" text-anchor="middle">${text(tick)}</text>`,
    ]),
    `<text class="tick" x="${bars.left - 10}" y="${bottom + 16}" text-anchor="end">${unit}</text>`,
    ...all.flatMap(({ name, value, isOurs }, i) => {
      const y = first + 8 + i * rowHeight
      return [
        `<g${isOurs ? ' class="ours"' : ''}>`,
        `<text x="${bars.left - 10}" y="${y + 13}" text-anchor="end">${name}</text>`,
        `<rect class="bar" x="${bars.left}" y="${y}" width="${short(xOf(value) - bars.left)}" height="${barHeight}"/>`,
        `<text class="value" x="${xOf(value) + 8}" y="${y + 13}">${text(value)}</text>`,
        '</g>',
      ]
    }),
  ]
}

/** 1, 2 or 5 times a power of ten, so that there are three to seven steps up to `most`. */
function stepOf(most) {
  const power = 10 ** Math.floor(Math.log10(most / 3))
  return [5, 2, 1].map((times) => times * power).find((step) => most / step >= 3) ?? power
}

const short = (number) => Math.round(number * 10) / 10

const styles = [
  'text{font:13px system-ui,sans-serif;fill:#444746}',
  '.title{font-size:17px;font-weight:600;fill:#1f1f1f}.panel{font-size:14px;font-weight:600;fill:#1f1f1f}',
  '.tick{font-size:12px}.paper{fill:#fff}.grid{stroke:#e3e3e3}',
  '.bar{fill:#9aa0a6}.ours .bar{fill:#0b57d0}.ours text{font-weight:700;fill:#1f1f1f}',
  '.value{paint-order:stroke;stroke:#fff;stroke-width:4px}',
  '@media (prefers-color-scheme:dark){text{fill:#c4c7c5}.title,.panel,.ours text{fill:#e3e3e3}',
  '.paper{fill:#131314}.grid{stroke:#333537}.bar{fill:#80868b}.ours .bar{fill:#8ab4f8}.value{stroke:#131314}}',
].join('')

module.exports = { drawBars }
