'use strict'
// Explains what a bundle of this package lacks, and how to make one that works.

const adviceForBundles = `Keep the package external, and install it where the bundle runs (docs/bundlers.md):
  esbuild: --external:boxoffice
  webpack: externalsType: 'commonjs', externals: [/^boxoffice(\\/|$)/]
  Rollup:  external: [/^boxoffice(\\/|$)/]
  Vite:    ssr: { external: ['boxoffice'] }
  Next.js: serverExternalPackages: ['boxoffice']
  Nitro:   traceDeps: ['boxoffice']
  ncc:     --external boxoffice
  Bun:     --external boxoffice`

const adviceForAddon = `${adviceForBundles}
Or let the bundler copy the addon beside the bundle, for locks without an engine:
  esbuild: --conditions=node-addons --loader:.node=copy
  webpack: resolve: { conditionNames: ['node-addons', '...'] }, and node-loader for /\\.node$/`

/** Whether this code has been moved into another file, and does not know where it was. */
const isMoved = typeof __filename === 'undefined' || !/[\\/]bundle_advice\.js$/.test(__filename)
/** Whether it has been moved. Bun's bundler writes where it was into the bundle. */
const isBundled = isMoved || !('paths' in module)

/** Returns `file` of this package, which is read by its path. Throws if it is missing. */
function checkFile(file) {
  if (!require('node:fs').existsSync(file)) throw missing(file)
  return file
}

/**
 * Returns `file`, which a thread runs by its path. A copy will not do, because it lacks the modules
 * that it requires.
 */
function checkModule(file) {
  if (isMoved) throw missing(file)
  return checkFile(file)
}

function missing(file) {
  return new Error(`boxoffice runs from a bundle, without its ${file}. ${adviceForBundles}`)
}

module.exports = { adviceForAddon, checkFile, checkModule, isBundled }
