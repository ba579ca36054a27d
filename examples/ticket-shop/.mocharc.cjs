module.exports = {
  spec: ['test/*.test.js'],
  forbidOnly: Boolean(process.env.CI),
  // On a busy machine, processes that are killed every 200 ms do little more than start.
  timeout: 120_000,
}
