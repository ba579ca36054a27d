'use strict'
const fs = require('node:fs')
const path = require('node:path')
const puppeteer = require('puppeteer-core')

function findChromium() {
  for (const directory of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const file = path.join(directory, name)
      if (fs.existsSync(file)) return file
    }
  }
  throw new Error(
    'The pages are tested in Chromium, which is not on the PATH: apt-get install chromium',
  )
}

module.exports = function openChromium() {
  // The sandbox does not work for root, as whom containers run; the pages are our own.
  return puppeteer.launch({ executablePath: findChromium(), args: ['--no-sandbox'] })
}
