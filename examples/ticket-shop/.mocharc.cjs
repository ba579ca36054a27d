module.exports = {
  spec: ['test/*.test.js'],
  forbidOnly: Boolean(process.env.CI),
  // Processes that are killed every 200 ms do little more than begin, on a machine that is busy.
  timeout: 120_000,
}
