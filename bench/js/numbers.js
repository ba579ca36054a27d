function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2
}

/** The least number that so large a part of them does not exceed. */
function quantile(numbers, part) {
  return numbers.toSorted((a, b) => a - b)[Math.ceil(part * numbers.length) - 1]
}

/** Median (least-most). */
function spread(numbers) {
  const all = `${round(median(numbers))}`
  if (numbers.length === 1) return all
  return `${all} (${round(Math.min(...numbers))}-${round(Math.max(...numbers))})`
}

function round(number) {
  if (Math.abs(number) < 0.005) return '0'
  return Math.abs(number) >= 100
    ? Math.round(number).toLocaleString('en-US')
    : number.toPrecision(Math.abs(number) >= 1 ? 3 : 2)
}

module.exports = { median, quantile, round, spread }
