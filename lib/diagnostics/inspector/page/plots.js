// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// Wait times as a few bars: the buckets are powers of two of microseconds, 1 µs to about a minute.

const plot = { width: 120, height: 22, bars: 27 }

/** Returns the counts of the bars. The first bar includes all shorter times, the last one all longer times. */
function barsOf(buckets) {
  const bars = new Array(plot.bars).fill(0)
  for (const [i, many] of buckets.entries()) bars[Math.min(i, plot.bars - 1)] += many
  return bars
}

/**
 * Returns the outline of the bars. Their height is the square root of their count, so that a small count stays visible
 * beside a large one.
 */
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

/** Draws the bars into `cell`. The columns beside it have the numbers. */
function plotInto(cell, buckets) {
  if (cell.firstElementChild === null) {
    const { width, height } = plot
    const floor = { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }
    const frame = { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': true }
    cell.append(drawing('svg', frame, drawing('line', floor), drawing('path', {})))
  }
  cell.firstElementChild.lastElementChild.setAttribute('d', pathOf(buckets))
}
