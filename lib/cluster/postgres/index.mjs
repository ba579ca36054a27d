import engine from './index.js'

export const { postgres, postgresSchema } = engine
