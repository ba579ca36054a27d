'use strict'
// Reads the files of this package that a renewing thread runs, as text: see thread_loader.js.
const { readFileSync } = require('node:fs')
const { dirname, join, sep } = require('node:path')

const lib = join(__dirname, '..')
/** Returns the file of `#addon` in package.json. A function, because the bundler ncc would replace a constant path. */
const addonFile = () => join(lib, 'addon', 'find.js')
/** The texts of the files that were read, by path. */
const texts = new Map()

/** Returns the texts, by path, of `file` and of all files of this package that it requires, at once or later. */
function textsOf(file, found = new Map()) {
  if (found.has(file) || !file.startsWith(lib + sep)) return found
  if (!texts.has(file)) texts.set(file, readFileSync(file, 'utf8'))
  const text = texts.get(file)
  found.set(file, text)
  for (const [, name] of text.matchAll(/require\('(\.[^']+\.js|#addon)'\)/g))
    textsOf(name === '#addon' ? addonFile() : join(dirname(file), name), found)
  return found
}

module.exports = { addonFile, textsOf }
