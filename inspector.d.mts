export * from './inspector.js'
