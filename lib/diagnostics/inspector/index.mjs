import inspection from './index.js'

export const { fetchInspector, inspector } = inspection
