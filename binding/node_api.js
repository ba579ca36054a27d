'use strict'
// Finds the headers of Node-API. They are beside this file in the published package, and in node_modules in
// the repository.
const { existsSync } = require('node:fs')
const path = require('node:path')

const published = path.join(__dirname, 'node-api')

/** Returns the folders of node_api.h and js_native_api.h (`headers`), and of napi.h (`wrapper`). */
function nodeApi() {
  if (existsSync(published)) {
    return { headers: path.join(published, 'include'), wrapper: path.join(published, 'wrapper') }
  }
  try {
    return {
      headers: require('node-api-headers').include_dir,
      wrapper: path.dirname(require.resolve('node-addon-api')),
    }
  } catch (cause) {
    throw new Error(
      'the headers of Node-API are missing: install boxoffice from npm. In its repository run npm install --include=dev, and npm run release:pack to make a package',
      { cause },
    )
  }
}

module.exports = { nodeApi }
