'use strict'
// Programs that some tests need, and that a machine may lack.
const { existsSync } = require('node:fs')
const path = require('node:path')

// Debian keeps the programs of a server off the path of users.
const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin']

function onPath(name) {
  const files = folders.map((folder) => path.join(folder, name))
  return files.find((file) => existsSync(file) || existsSync(`${file}.exe`))
}

const firstOf = (...files) => files.find((file) => existsSync(file))

/** By what is needed: where it is, or undefined, and the package of Debian that brings it. */
const programs = {
  chromium: { find: () => onPath('chromium'), debian: 'chromium' },
  cmake: { find: () => onPath('cmake'), debian: 'cmake' },
  'a C++20 compiler': {
    find: () => process.env.CXX || onPath('c++') || onPath('g++') || onPath('clang++'),
    debian: 'g++',
  },
  GoogleTest: {
    find: () =>
      firstOf('/usr/include/gtest', '/usr/local/include/gtest', '/opt/homebrew/include/gtest'),
    debian: 'libgtest-dev',
  },
  openssl: { find: () => onPath('openssl'), debian: 'openssl' },
  pgbouncer: { find: () => onPath('pgbouncer'), debian: 'pgbouncer' },
  PostgreSQL: {
    find: () => firstOf('/usr/lib/postgresql') ?? onPath('initdb'),
    debian: 'postgresql',
  },
  'redis-server': { find: () => onPath('redis-server'), debian: 'redis-server' },
  'valkey-server': {
    find: () => process.env.BOXOFFICE_VALKEY ?? onPath('valkey-server'),
    debian: 'valkey-server',
  },
}

module.exports = programs
