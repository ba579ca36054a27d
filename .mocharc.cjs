module.exports = {
  forbidOnly: Boolean(process.env.CI),
  timeout: 10_000,
}
