import type { tryAcquire, withTimeout } from '../locks/decorators.js'

/** Rejects a wait that {@link withTimeout} has ended. Its `code` is `ERR_LOCK_TIMEOUT`. */
export const E_TIMEOUT: Error

/** Rejects what {@link tryAcquire} could not have at once. `ERR_LOCK_ALREADY_LOCKED`. */
export const E_ALREADY_LOCKED: Error

/** Rejects waits that `cancel()` has ended. `ERR_LOCK_CANCELED`. */
export const E_CANCELED: Error
