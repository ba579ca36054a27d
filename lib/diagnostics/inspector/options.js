'use strict'
// The options of the inspector, which decide about access to the page. They are checked once, when the handler is made.
const { checkType, kindError } = require('../../core/errors.js')
const { checkKnown, checkObject } = require('../../core/options.js')

/** Labels of a domain name or of an IPv4 address, or an IPv6 address in brackets: no scheme, no port. */
const hostName = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/

const inspectorOptions = new Set(['hosts', 'allowRemote'])

function readOptions(options) {
  checkObject(options)
  checkKnown(options, inspectorOptions)
  const { hosts = [], allowRemote = false } = options
  if (!Array.isArray(hosts)) throw kindError('hosts must be an array of host names', hosts)
  checkType('allowRemote', allowRemote, 'boolean')
  return { hosts: new Set(hosts.map(readHostName)), allowRemote }
}

function readHostName(host) {
  checkType('each of hosts', host, 'string')
  const name = host.toLowerCase()
  if (!hostName.test(name)) {
    throw new RangeError(
      `hosts must be names without a scheme and without a port, such as 'ops.example.com', not ${JSON.stringify(host)}`,
    )
  }
  return name
}

module.exports = { readOptions }
