'use strict'
// Clients of @valkey/valkey-glide, whose messages about what the tests do to servers are not printed.
const { GlideClient, GlideClusterClient, Logger } = require('@valkey/valkey-glide')

Logger.setLoggerConfig('off')

const configurationOf = (port, { host = '127.0.0.1', username, password, tls, ...more } = {}) => ({
  addresses: [{ host, port }],
  ...(password && { credentials: { username, password } }),
  ...(tls && {
    useTLS: true,
    advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: tls.ca } },
  }),
  ...more,
})

/** `options` may have host, username, password and tls, and the package's own. */
const glideClient = (port, options) => GlideClient.createClient(configurationOf(port, options))

/** A client of the cluster with a server at `port`. */
const glideClusterClient = (port, options) =>
  GlideClusterClient.createClient(configurationOf(port, options))

module.exports = { configurationOf, glideClient, glideClusterClient }
