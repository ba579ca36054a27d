'use strict'
const { execFileSync } = require('node:child_process')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

/** The files of a new certificate for `host`, signed by a new authority: { ca, crt, key, remove() }. */
function certificateOf(host) {
  const directory = mkdtempSync(join(tmpdir(), 'boxoffice-tls-'))
  const at = (name) => join(directory, name)
  const openssl = (...words) => execFileSync('openssl', words, { stdio: 'pipe' })
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const authority = ['-subj', '/CN=tests of boxoffice', '-keyout', at('ca.key')]
  openssl('req', '-x509', ...fresh, ...authority, '-out', at('ca.crt'))
  openssl('req', ...fresh, '-subj', `/CN=${host}`, '-keyout', at('key'), '-out', at('csr'))
  writeFileSync(at('names'), `subjectAltName=IP:${host},DNS:localhost`)
  const signing = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial']
  openssl('x509', '-req', '-in', at('csr'), ...signing, '-extfile', at('names'), '-out', at('crt'))
  const remove = () => rmSync(directory, { recursive: true })
  return { ca: at('ca.crt'), crt: at('crt'), key: at('key'), remove }
}

module.exports = { certificateOf }
