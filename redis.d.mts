export * from './redis.js'
