// Replaces lib/options/scopes.js in a bundle.
import { adviceForAddon } from './bundle_advice.js'

function missing() {
  throw new Error(`boxoffice runs from a bundle, without its addon. ${adviceForAddon}`)
}

export { adviceForAddon as advice, missing as readOptions, missing as snapshot }
