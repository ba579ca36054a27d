import engine from './index.js'

export const { etcd } = engine
