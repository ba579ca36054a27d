module.exports = {
  forbidOnly: Boolean(process.env.CI),
  require: require.resolve('./test/helpers/second_try.js'),
  // Tests begin threads, processes and servers, on a machine that builds something else meanwhile.
  timeout: 30_000,
}
