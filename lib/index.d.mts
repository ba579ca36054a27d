import * as boxoffice from '../index.js'

export * from '../index.js'
export default boxoffice
