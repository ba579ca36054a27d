/**
 * The locks of one thread, for any JavaScript runtime. Options of the wider scopes, `diagnostics` and `reentrant` throw
 * `ERR_LOCK_UNSUPPORTED`, unless the program has also loaded boxoffice, in Node.js.
 *
 * @module boxoffice/local
 */

export * from '../cluster/options.js'
export * from '../core/errors.js'
export * from '../core/keys.js'
export * from '../core/options.js'
export * from '../core/releaser.js'
export * from '../diagnostics/options.js'
export * from '../host/options.js'
export * from '../options/lock_options.js'
export * from '../options/scope_options.js'
export * from './barrier.js'
export * from './closable.js'
export * from './condition_variable.js'
export * from './countdown_latch.js'
export * from './decorators.js'
export * from './dining_philosophers.js'
export * from './events.js'
export * from './gate.js'
export * from './keyed.js'
export * from './keyed_mutex.js'
export * from './keyed_rw_lock.js'
export * from './keyed_semaphore.js'
export * from './mutex.js'
export * from './recursive_mutex.js'
export * from './rw_lock.js'
export * from './semaphore.js'
export * from './single_flight.js'
