const { execFileSync } = require('node:child_process')

/** Installs into `prefix` the dependencies of its package.json, or `packages`. */
function npmInstall(prefix, ...packages) {
  const options = ['--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...options, ...packages], {
    cwd: __dirname,
    stdio: ['ignore', 2, 2], // standard output is for the tables
    shell: process.platform === 'win32', // where npm is a script
  })
}

module.exports = { npmInstall }
