'use strict'
// Loaded by mocha before all tests: a test or a process that hangs says what it waits for.

async function say(what) {
  console.error(`${what}\nOpen handles: ${process.getActiveResourcesInfo().join(', ') || 'none'}`)
  // Not loaded before: some tests look at what is loaded.
  const { locks } = await require('../..').snapshot()
  console.error('Locks with diagnostics:', locks)
}

// From watched.js, when the time is over.
process.once('SIGTERM', async () => {
  await say('This process is asked to end.')
  process.exit(1)
})

/** mocha 12 ignores a rejection that nothing handles, unless a listener throws it. */
function fail(reason) {
  throw reason
}
process.on('unhandledRejection', fail)

exports.mochaHooks = {
  beforeAll() {
    // After each file a process of --parallel removes all listeners.
    process.off('unhandledRejection', fail).on('unhandledRejection', fail)
  },
  async afterEach() {
    const { currentTest } = this
    if (currentTest.err?.code === 'ERR_MOCHA_TIMEOUT')
      await say(`${currentTest.fullTitle()} timed out.`)
  },
}
