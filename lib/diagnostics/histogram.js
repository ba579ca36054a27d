'use strict'
// How long waits or holds took, in buckets: bucket i counts times of at least 2^(i-1) and less than 2^i microseconds, bucket 0
// those below 1, the last all that are longer.

const bucketCount = 40 // up to 6 days

class Histogram {
  buckets = new Float64Array(bucketCount)
  max = 0

  /** `time` in milliseconds. */
  add(time) {
    if (time === 0) {
      this.buckets[0]++
      return
    }
    const microseconds = time * 1000
    // clz32 sees whole numbers below 2^32; those above are of another bucket in their high half.
    const bits =
      microseconds < 2 ** 32
        ? 32 - Math.clz32(microseconds)
        : 64 - Math.clz32(microseconds / 2 ** 32)
    this.buckets[Math.min(bits, bucketCount - 1)]++
    if (time > this.max) this.max = time
  }
}

/** The same to read: `buckets` and `max` may be the sum of several. */
function readTimes(buckets, max) {
  const count = buckets.reduce((sum, some) => sum + some, 0)
  /** The upper end of the bucket of the shortest time that this share of all does not exceed. */
  const percentile = (share) => {
    let rest = Math.ceil(share * count)
    if (rest === 0) return 0
    let i = 0
    while (buckets[i] < rest) rest -= buckets[i++]
    return Math.min(2 ** i / 1000, max)
  }
  return {
    p50: percentile(0.5),
    p90: percentile(0.9),
    p99: percentile(0.99),
    max,
    buckets: Array.from(buckets),
  }
}

module.exports = { Histogram, readTimes }
