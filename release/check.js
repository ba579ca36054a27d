'use strict'
// Checks that a prebuilt binary loads wherever Node.js 20 runs.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { readFileSync, statSync } = require('node:fs')

// Libraries that Node.js 20 itself needs, and that are therefore always loaded. A system may lack
// any other.
const highest = { GLIBC: [2, 28], GLIBCXX: [3, 4, 25], CXXABI: [1, 3, 11] }
const libraries = {
  gnu: /^(lib(c|pthread|dl|m|rt)\.so\.\d|ld-linux-.*)$/,
  musl: /^lib(c|c\.musl-.*)\.so$/,
}
// Windows and macOS identify formats and processors by numbers at fixed places.
const formats = {
  'darwin-x64': { magic: 0xfeedfacf, processor: 0x01000007 },
  'darwin-arm64': { magic: 0xfeedfacf, processor: 0x0100000c },
  'win32-x64': { magic: 0x4550, processor: 0x8664 },
  'win32-arm64': { magic: 0x4550, processor: 0xaa64 },
}

/**
 * Throws if the file is not fit for the system of that name. Returns one line that describes it.
 */
function check(name, binary) {
  const size = `${Math.round(statSync(binary).size / 1024)} KiB`
  if (!name.startsWith('linux')) return `${checkFormat(name, readFileSync(binary))}${size}`
  const show = (...options) =>
    execFileSync('readelf', ['--wide', ...options, binary], { encoding: 'utf8' })
  const machine = name.includes('arm64') ? /AArch64/ : /X86-64/
  assert.match(show('--file-header'), machine)
  const needed = checkVersions(name, show('--version-info'))
  checkLibraries(name, show('--dynamic'))
  checkExports(show('--dyn-syms'))
  return `${needed}${size}`
}

function checkFormat(name, bytes) {
  const { magic, processor } = formats[name]
  const at = name.startsWith('win32') ? bytes.readUInt32LE(0x3c) : 0
  assert.equal(bytes.readUInt32LE(at), magic, `${name} is not of its format`)
  const found = name.startsWith('win32') ? bytes.readUInt16LE(at + 4) : bytes.readUInt32LE(4)
  assert.equal(found, processor, `${name} is for another processor`)
  // The program that loads it may have another name than node.exe.
  if (name.startsWith('win32')) assert.ok(!/node\.exe/i.test(bytes.toString('latin1')))
  else checkForMac(bytes)
  return ''
}

function checkVersions(name, text) {
  const found = {}
  for (const [, kind, version] of text.matchAll(/\b(GLIBC|GLIBCXX|CXXABI)_([\d.]+)/g)) {
    const parts = version.split('.').map(Number)
    if (!found[kind] || isAbove(parts, found[kind])) found[kind] = parts
  }
  for (const [kind, parts] of Object.entries(found)) {
    assert.ok(!isAbove(parts, highest[kind]), `${name} needs ${kind}_${parts.join('.')}`)
  }
  return Object.entries(found)
    .map(([kind, parts]) => `${kind}_${parts.join('.')}, `)
    .join('')
}

function isAbove(version, other) {
  const at = version.findIndex((part, i) => part !== (other[i] ?? 0))
  return at >= 0 && version[at] > (other[at] ?? 0)
}

function checkLibraries(name, text) {
  const allowed = name.endsWith('musl') ? libraries.musl : libraries.gnu
  for (const [, library] of text.matchAll(/\(NEEDED\).*\[(.+)\]/g)) {
    assert.match(library, allowed, `${name} needs ${library}`)
  }
  assert.match(text, /NODELETE/, `${name} may be unmapped`)
}

/** As <mach-o/loader.h> and <mach-o/nlist.h> describe it. */
function checkForMac(bytes) {
  const commands = new Map()
  const headerSize = 32
  for (let i = 0, at = headerSize; i < bytes.readUInt32LE(16); i++) {
    commands.set(bytes.readUInt32LE(at), at)
    at += bytes.readUInt32LE(at + 4)
  }
  const [LC_SYMTAB, LC_DYSYMTAB, LC_CODE_SIGNATURE] = [0x2, 0xb, 0x1d]
  assert.ok(commands.has(LC_CODE_SIGNATURE), 'macOS on arm64 loads nothing that is not signed')
  assert.ok(bytes.includes('__gcc_except_tab'), 'an exception would end the process')
  const symbols = bytes.readUInt32LE(commands.get(LC_SYMTAB) + 8)
  const strings = bytes.readUInt32LE(commands.get(LC_SYMTAB) + 16)
  const first = bytes.readUInt32LE(commands.get(LC_DYSYMTAB) + 16)
  const count = bytes.readUInt32LE(commands.get(LC_DYSYMTAB) + 20)
  const symbolSize = 16
  const names = Array.from({ length: count }, (_, i) => {
    const start = strings + bytes.readUInt32LE(symbols + (first + i) * symbolSize)
    return bytes.toString('latin1', start, bytes.indexOf(0, start)).replace(/^_/, '')
  })
  checkNames(names)
}

function checkExports(text) {
  const seen = [...text.matchAll(/(?:FUNC|OBJECT)\s+(?:GLOBAL|WEAK)\s+DEFAULT\s+\d+ (\S+)/g)]
  checkNames(seen.map(([, name]) => name.replace(/@.*/, '')))
}

/** Node's own C++ library must not see or use a symbol of the one inside. */
function checkNames(names) {
  const ours =
    /^(napi_register_module_v1|node_api_module_get_api_version_v1|boxoffice_process_wide_\w+)$/
  assert.ok(names.includes('napi_register_module_v1'), 'nothing for Node to call')
  for (const name of names) assert.match(name, ours)
}

module.exports = check
