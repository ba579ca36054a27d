export * from './engine.js'
