import engine from './engine.js'

export const { Engine } = engine
