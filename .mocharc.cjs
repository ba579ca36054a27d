module.exports = {
  forbidOnly: Boolean(process.env.CI),
  require: require.resolve('./test/runner/hung.js'),
  // Tests begin threads, processes and servers, on a machine that builds something else meanwhile.
  timeout: 30_000,
}
