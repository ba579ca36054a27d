// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// The number of waiters in the last minutes. Only this page keeps it, not the process.

const past = { span: 5 * 60_000, step: 1000, gap: 10_000 }
const spark = { width: 200, height: 28 }

/**
 * Returns `samples` with one more, and without those that are older than the span. Keeps one sample per step, with the
 * larger number, so that there are never more than the span has steps. Begins anew if the clock was set back.
 */
function remember(samples, at, waiting) {
  const last = samples.at(-1)
  if (last !== undefined && at < last.at) return [{ at, waiting }]
  const kept = samples.filter((sample) => sample.at > at - past.span)
  if (last === undefined || at - last.at >= past.step) return [...kept, { at, waiting }]
  return [...kept.slice(0, -1), { at: last.at, waiting: Math.max(last.waiting, waiting) }]
}

const mostOf = (samples) => Math.max(0, ...samples.map(({ waiting }) => waiting))

/** Returns the span of the line: at least a minute, so that the line of a new page does not jump. */
const spanOf = (samples) => Math.max(60_000, samples.at(-1)?.at - samples[0]?.at)

/** Returns the line of the samples. It ends at the right edge, and has a gap where the page was paused. */
function sparkPath(samples) {
  const most = Math.max(1, mostOf(samples))
  const [end, span] = [samples.at(-1)?.at, spanOf(samples)]
  const x = ({ at }) => (spark.width * (1 - (end - at) / span)).toFixed(1)
  const y = ({ waiting }) => ((spark.height - 2) * (1 - waiting / most) + 1).toFixed(1)
  return samples
    .map((sample, i) => {
      const isNew = i === 0 || sample.at - samples[i - 1].at > past.gap
      return isNew ? `M${x(sample)} ${y(sample)}` : `H${x(sample)}V${y(sample)}`
    })
    .join('')
}

/** Returns a text such as "at most 12 in the last 5 min". The time is how long the page has been open. */
function sparkLabel(samples) {
  const most = count(mostOf(samples))
  const seen = samples.length === 0 ? 0 : samples.at(-1).at - samples[0].at
  const minutes = Math.round(seen / 60_000)
  return `at most ${most} in the last ${minutes < 2 ? 'minute' : `${minutes} min`}`
}
