'use strict'
// Limits the TLS handshakes of a client. gRPC has no limit for them, and goes on with them when the client has been
// closed. So a silent server would keep the process alive for ever.
const { inTime } = require('../patience.js')

/**
 * Ends each handshake of `client` after `time` ms. gRPC has no option for that. If another version of it connects in
 * another way, there is no limit.
 */
function limitHandshakes(client, time) {
  const credentials = client.pool?.authenticator?.credentials
  const make = credentials?._createSecureConnector
  if (typeof make !== 'function') return
  credentials._createSecureConnector = (...rest) => {
    const connector = make.apply(credentials, rest)
    const { connect } = connector
    // gRPC destroys the socket when this rejects.
    connector.connect = (socket) => inTime(connect.call(connector, socket), time)
    return connector
  }
}

module.exports = { limitHandshakes }
