// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// How long was waited, as a few bars: the buckets are powers of two of microseconds, 1 µs to about a minute.

const plot = { width: 120, height: 22, bars: 27 }

/** What is longer or shorter than the plot is in its last or first bar. */
function barsOf(buckets) {
  const bars = new Array(plot.bars).fill(0)
  for (const [i, many] of buckets.entries()) bars[Math.min(i, plot.bars - 1)] += many
  return bars
}

/** By the root of each count: a bar that stands for few is to be seen beside one for many. */
function pathOf(buckets) {
  const bars = barsOf(buckets)
  const most = Math.max(...bars)
  const step = plot.width / plot.bars
  return bars
    .map((many, i) => {
      if (many === 0) return ''
      const height = Math.max(2, Math.sqrt(many / most) * (plot.height - 2))
      const left = (i * step).toFixed(1)
      return `M${left} ${plot.height - 1}v${-height.toFixed(1)}h${(step - 1).toFixed(1)}v${height.toFixed(1)}z`
    })
    .join('')
}

/** Draws into `cell`, whose columns beside it say the same in numbers. */
function plotInto(cell, buckets) {
  if (cell.firstElementChild === null) {
    const { width, height } = plot
    const floor = { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }
    const frame = { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': true }
    cell.append(drawing('svg', frame, drawing('line', floor), drawing('path', {})))
  }
  cell.firstElementChild.lastElementChild.setAttribute('d', pathOf(buckets))
}
