'use strict'
// Finds the addon. BOXOFFICE_BINARY names another one, such as a sanitizer build.
const path = require('node:path')

const root = path.join(__dirname, '..')

function load() {
  const binary =
    process.env.BOXOFFICE_BINARY || path.join(root, 'build', 'release', 'boxoffice.node')
  try {
    const addon = require(path.resolve(binary))
    return { platform: addon.platform, ...addon.connect() }
  } catch (cause) {
    throw new Error(
      `boxoffice cannot load its addon ${binary} for ${process.platform}-${process.arch} ` +
        `(${cause.message.split('\n')[0]}). Build it with: npm run build (in ${root})`,
      { cause },
    )
  }
}

module.exports = load()
