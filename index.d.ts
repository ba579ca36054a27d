/**
 * The locks, and the functions that observe them.
 *
 * @module boxoffice
 */

export * from './lib/cluster/options.js'
export * from './lib/core/errors.js'
export * from './lib/core/keys.js'
export * from './lib/core/options.js'
export * from './lib/core/releaser.js'
export * from './lib/diagnostics/options.js'
export * from './lib/diagnostics/process.js'
export * from './lib/host/options.js'
export * from './lib/locks/barrier.js'
export * from './lib/locks/closable.js'
export * from './lib/locks/condition_variable.js'
export * from './lib/locks/countdown_latch.js'
export * from './lib/locks/decorators.js'
export * from './lib/locks/dining_philosophers.js'
export * from './lib/locks/events.js'
export * from './lib/locks/gate.js'
export * from './lib/locks/keyed.js'
export * from './lib/locks/keyed_mutex.js'
export * from './lib/locks/keyed_rw_lock.js'
export * from './lib/locks/keyed_semaphore.js'
export * from './lib/locks/leader_election.js'
export * from './lib/locks/mutex.js'
export * from './lib/locks/recursive_mutex.js'
export * from './lib/locks/rw_lock.js'
export * from './lib/locks/semaphore.js'
export * from './lib/locks/single_flight.js'
export * from './lib/options/lock_options.js'
export * from './lib/options/scope_options.js'
export * from './lib/weblocks/lock_manager.js'

/**
 * The system and processor the addon was built for, as Node names them.
 *
 * @example
 * 'linux-x64'
 */
export const platform: string
