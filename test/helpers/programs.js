'use strict'
// Programs that some tests need, and that a machine may lack.
const { spawnSync } = require('node:child_process')
const { existsSync } = require('node:fs')
const path = require('node:path')

// Debian does not put a server's programs on the users' PATH.
const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin']

function onPath(name) {
  const files = folders.map((folder) => path.join(folder, name))
  return files.find((file) => existsSync(file) || existsSync(`${file}.exe`))
}

const firstOf = (...files) => files.find((file) => existsSync(file))

/** `ip`, if this process may make network namespaces. */
function ipOf() {
  const canMake = () => spawnSync('unshare', ['--net', '--mount', 'true']).status === 0
  return onPath('ip') && canMake() ? onPath('ip') : undefined
}

const compiler = () => process.env.CXX || onPath('c++') || onPath('g++') || onPath('clang++')

/** By need: the path, or undefined, and the Debian package that contains it. */
const programs = {
  chromium: { find: () => onPath('chromium'), debian: 'chromium' },
  cmake: { find: () => onPath('cmake'), debian: 'cmake' },
  'a clock that tests can set': {
    find: () => (process.platform === 'linux' && process.arch === 'x64' ? compiler() : undefined),
    debian: 'g++, on x86-64',
  },
  'a C++20 compiler': {
    find: compiler,
    debian: 'g++',
  },
  etcd: { find: () => onPath('etcd'), debian: 'etcd-server' },
  etcdctl: { find: () => onPath('etcdctl'), debian: 'etcd-client' },
  GoogleTest: {
    find: () =>
      firstOf('/usr/include/gtest', '/usr/local/include/gtest', '/opt/homebrew/include/gtest'),
    debian: 'libgtest-dev',
  },
  'network namespaces': { find: ipOf, debian: 'iproute2, as root' },
  openssl: { find: () => onPath('openssl'), debian: 'openssl' },
  pgbouncer: { find: () => onPath('pgbouncer'), debian: 'pgbouncer' },
  PostgreSQL: {
    find: () => firstOf('/usr/lib/postgresql') ?? onPath('initdb'),
    debian: 'postgresql',
  },
  zopfli: { find: () => onPath('zopfli'), debian: 'zopfli' },
  'redis-server': { find: () => onPath('redis-server'), debian: 'redis-server' },
  'valkey-server': {
    find: () => process.env.BOXOFFICE_VALKEY ?? onPath('valkey-server'),
    debian: 'valkey-server',
  },
}

module.exports = programs
