const os = require('node:os')

/** The machine of the measurements. */
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
