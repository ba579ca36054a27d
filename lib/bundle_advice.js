'use strict'
// What a bundle of this package lacks, and how to make one that works.

const adviceForBundles = `Keep the package external, and install it where the bundle runs (docs/bundlers.md):
  esbuild: --external:boxoffice
  webpack: externalsType: 'commonjs', externals: [/^boxoffice(\\/|$)/]
  Rollup:  external: [/^boxoffice(\\/|$)/]
  Vite:    ssr: { external: ['boxoffice'] }
  Next.js: serverExternalPackages: ['boxoffice']
  ncc:     --external boxoffice`

/** Whether this code stands in another file than its own. */
const isBundled = typeof __filename === 'undefined' || !/[\\/]bundle_advice\.js$/.test(__filename)

/** Gives `file` of this package, which is read by its path. */
function checkFile(file) {
  if (!require('node:fs').existsSync(file)) throw missing(file)
  return file
}

/** Gives `file`, which a thread runs by its path: a copy will not do, without the modules that it requires. */
function checkModule(file) {
  if (isBundled) throw missing(file)
  return checkFile(file)
}

function missing(file) {
  return new Error(`boxoffice runs from a bundle, without its ${file}. ${adviceForBundles}`)
}

module.exports = { adviceForBundles, checkFile, checkModule, isBundled }
