'use strict'
/** Whether this system has locks of scope host. */
const isSupported = process.platform === 'linux'

module.exports = { isSupported }
