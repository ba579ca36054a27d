'use strict'
// A histogram of wait or hold times. Bucket i counts times of at least 2^(i-1) and less than 2^i microseconds. Bucket 0
// counts times below 1 microsecond, the last bucket all longer times.

const bucketCount = 40 // up to 6 days

class Histogram {
  buckets = new Float64Array(bucketCount)
  max = 0

  /** Counts `time`, in milliseconds. */
  add(time) {
    if (time === 0) {
      this.buckets[0]++
      return
    }
    const microseconds = time * 1000
    // clz32 takes integers below 2^32. For larger ones the high half decides the bucket.
    const bits =
      microseconds < 2 ** 32
        ? 32 - Math.clz32(microseconds)
        : 64 - Math.clz32(microseconds / 2 ** 32)
    this.buckets[Math.min(bits, bucketCount - 1)]++
    if (time > this.max) this.max = time
  }
}

/** Returns the times of a histogram, or of a sum of several ones, in readable form. */
function readTimes({ buckets, max }) {
  const count = buckets.reduce((sum, some) => sum + some, 0)
  /** Returns the upper end of the bucket with the percentile of this share. */
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
