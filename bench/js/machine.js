const os = require('node:os')

/** What numbers were measured on. */
function machine() {
  const [{ model }] = os.cpus()
  return {
    node: process.version,
    cpu: model,
    cores: os.availableParallelism(),
    system: `${os.type()} ${os.machine()}`,
  }
}

module.exports = { machine }
