export * from './postgres.js'
