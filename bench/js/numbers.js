function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2
}

/** The smallest number not exceeded by that share of them. */
function quantile(numbers, part) {
  return numbers.toSorted((a, b) => a - b)[Math.ceil(part * numbers.length) - 1]
}

/** Median (least-most). */
function spread(numbers) {
  return spreadText(median(numbers), Math.min(...numbers), Math.max(...numbers))
}

function spreadText(middle, least, most) {
  if (round(least) === round(most)) return round(middle)
  return `${round(middle)} (${round(least)}-${round(most)})`
}

function round(number) {
  if (Math.abs(number) < 0.0005) return '0'
  return Math.abs(number) >= 100
    ? Math.round(number).toLocaleString('en-US')
    : number.toPrecision(Math.abs(number) >= 1 ? 3 : 2)
}

module.exports = { median, quantile, round, spread, spreadText }
