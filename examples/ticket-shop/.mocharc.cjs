module.exports = {
  spec: ['test/*.test.js'],
  forbidOnly: Boolean(process.env.CI),
  timeout: 30_000,
}
