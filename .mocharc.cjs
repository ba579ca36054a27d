module.exports = {
  forbidOnly: Boolean(process.env.CI),
  require: require.resolve('./test/helpers/second_try.js'),
  timeout: 10_000,
}
