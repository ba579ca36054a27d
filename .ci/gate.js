'use strict'
// The steps of .ci/run, or those named, the cheapest first. It stops at the first that is red. Only simulated checks, which
// use one core each, run two at a time.
const { chosen, inScratch, runSteps, summarize } = require('./steps.js')

const checks = [
  { name: 'Debian packages', run: '.ci/packages', limit: 400 },
  { name: 'npm ci', run: 'npm ci --ignore-scripts --no-audit --no-fund', limit: 300 },
  { name: 'biome', run: 'npx biome check --error-on-warnings', limit: 60 },
  { name: 'clang-format', run: '.ci/clang format', limit: 60 },
  { name: 'types', run: 'npm run types', limit: 120 },
  {
    name: 'addon without warnings',
    run: 'npm run build -- addon -DBOXOFFICE_WERROR=ON',
    limit: 300,
  },
  { name: 'clang-tidy', run: '.ci/clang tidy', limit: 120 },
  { name: 'package', run: '.ci/pack "$SCRATCH"', limit: 120 },
]

const simulated = [
  { name: 'models', run: 'test/model/run.sh semaphore', limit: 240, least: 10 },
  { name: 'relacy', run: '.ci/relacy mutex', limit: 400, least: 1 },
]

const tests = [
  {
    // The search for deadlocks goes by frames and hooks of V8, which differ most between versions.
    name: 'deadlocks on Node.js 26',
    run: `.ci/nodes "$SCRATCH" 26
      "$SCRATCH/node-26/package/bin/node" test/run.js 'test/diagnostics/deadlocks*.test.js'`,
    limit: 120,
    least: 100,
  },
  { name: 'C++ tests', run: 'npm run test:native', limit: 600, least: 640 },
  {
    name: 'npm install && npm test',
    run: 'npm install --no-audit --no-fund && npm test',
    limit: 900,
    least: 2900,
  },
]

const groups = [
  [checks, 1],
  [simulated, 2],
  [tests, 1],
]

async function main(only) {
  await inScratch('gate', async (folder) => {
    const environment = { CI: 'true', CMAKE_BUILD_PARALLEL_LEVEL: '2', SCRATCH: folder }
    const results = []
    for (const [steps, beside] of groups) {
      if (results.some(({ why }) => why)) break
      const how = { folder, environment, stops: true, beside }
      results.push(...(await runSteps(chosen(steps, only), how)))
    }
    process.exitCode = summarize(results)
  })
}

main(process.argv.slice(2))
