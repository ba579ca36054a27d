'use strict'
// Explains which rights the user of the client needs: the error of etcd names neither a right nor a key.

/** Returns `error`; if etcd has refused its user a key, an error that says how to grant it. */
function explained(error, prefix) {
  if (!/etcdserver: permission denied/.test(error.message)) return error
  const message =
    `${error.message}: the user of the client needs the rights to read and write all keys that begin with ${prefix}/, ` +
    `which "etcdctl role grant-permission <role> readwrite ${prefix}/ --prefix" grants`
  return new Error(message, { cause: error })
}

module.exports = { explained }
