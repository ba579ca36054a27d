/** The key of a keyed lock. Keys of different types are different keys: 1 is not '1'. NaN throws a RangeError. */
export type Key = string | number | bigint
