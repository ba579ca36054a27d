'use strict'
/** Whether this system has locks of scope host. */
const isSupported = process.platform !== 'win32'

module.exports = { isSupported }
