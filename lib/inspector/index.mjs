import inspection from './index.js'

export const { inspector } = inspection
