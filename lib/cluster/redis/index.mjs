import engine from './index.js'

export const { redis } = engine
