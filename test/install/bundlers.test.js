'use strict'
// The published package in the output of bundlers, as in the examples of docs/bundlers.md.
const assert = require('node:assert/strict')
const {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { documented, pack, projectWith, run, together } = require('./helpers.js')

const bundlers = {
  // The last one for Node.js 20.
  '@electron/asar': '^3',
  '@rollup/plugin-commonjs': '^29',
  '@rollup/plugin-node-resolve': '^16',
  '@vercel/ncc': '^0.45',
  esbuild: '^0.28',
  'node-loader': '^2',
  postject: '1.0.0-alpha.6',
  rollup: '^4',
  vite: '^8',
  webpack: '^5',
  'webpack-cli': '^7',
}
const programs = {
  asar: '@electron/asar/bin/asar.js',
  esbuild: 'esbuild/bin/esbuild',
  ncc: '@vercel/ncc/dist/ncc/cli.js',
  rollup: 'rollup/dist/bin/rollup',
  vite: 'vite/bin/vite.js',
  webpack: 'webpack-cli/bin/cli.js',
}

const text = (name) => readFileSync(path.join(__dirname, 'user', name), 'utf8')
const inCommonJs = (source) => source.replace(/^import (.*) from (.*)$/gm, 'const $1 = require($2)')

describe('the package, bundled', function () {
  this.timeout(300_000)
  const { files, commands } = documented()
  const empty = mkdtempSync(path.join(tmpdir(), 'boxoffice-bundled-'))
  let dir
  before(async () => {
    pack()
    dir = await projectWith('install-bundlers', bundlers, {
      ...files,
      'app.mjs': text('bundled.mjs'),
      'app.cjs': inCommonJs(text('bundled.mjs')),
      'thread.mjs': text('bundled_thread.mjs'),
      'thread.cjs': inCommonJs(text('bundled_thread.mjs')),
      'none.mjs': 'export default {}',
      'whole.mjs': 'export default { ssr: { noExternal: true } }',
      'redis.mjs': "import { redis } from 'boxoffice/redis'\nglobalThis.it = redis",
    })
    for (const each of ['dist', 'copied', 'folders', 'plain', 'redis'])
      rmSync(path.join(dir, each), { recursive: true, force: true })
  })
  after(() => rmSync(empty, { recursive: true }))

  const example = (part) => {
    const found = commands.filter((command) => command.includes(part))
    assert.equal(found.length, 1, `one command of docs/bundlers.md has ${part}`)
    return found[0]
  }

  /** Runs a command as the documents show it. It must print no warnings. */
  async function bundle(command) {
    const [name, ...args] = command.match(/"[^"]*"|\S+/g).map((word) => word.replaceAll('"', ''))
    const program = path.join(dir, 'node_modules', programs[name])
    const { stdout, stderr } = await run(dir, process.execPath, [program, ...args])
    assert.doesNotMatch(`${stdout}\n${stderr}`, /warn/i)
  }

  const execute = (file) => run(empty, process.execPath, [file, path.join(empty, 'locks')])

  /** Each bundles with a command, and checks each output with `check`. */
  function recipes(rows, check) {
    const tests = Object.entries(rows).map(([name, [command, ...outputs]]) => [
      name,
      async () => {
        await bundle(command)
        for (const output of outputs) await check(output, name)
      },
    ])
    together(Object.fromEntries(tests))
  }

  describe('as an external one, has all locks', () => {
    const rows = {
      'by esbuild as CommonJS': [example('dist/app.cjs'), 'dist/app.cjs'],
      'by esbuild as ESM': [example('dist/app.mjs'), 'dist/app.mjs'],
      'by webpack': ['webpack --config webpack.config.js', 'dist/webpack.cjs'],
      'by Rollup': ['rollup -c rollup.config.mjs --silent', 'dist/rollup.cjs', 'dist/rollup.mjs'],
      'by Vite for SSR': ['vite build', 'dist/vite/app.mjs'],
      'by Vite for SSR, by default': [
        'vite build --config none.mjs --ssr app.mjs --outDir dist/plain',
        'dist/plain/app.mjs',
      ],
      'by ncc': [
        'ncc build app.cjs -o dist/external --external boxoffice',
        'dist/external/index.cjs',
      ],
    }
    recipes(rows, async (output) => {
      const { stdout } = await execute(path.join(dir, output))
      assert.equal(stdout, 'sold 4')
    })
  })

  /** Checks a bundle that is complete in its folder. */
  const runsElsewhere = async (output, name) => {
    const folder = path.join(empty, name)
    cpSync(path.join(dir, path.dirname(output)), folder, { recursive: true })
    const { stdout } = await execute(path.join(folder, path.basename(output)))
    assert.equal(stdout, output.includes('thread') ? 'sold 9' : 'sold 4')
  }

  describe('with its binaries beside the bundle, has all locks', () => {
    recipes(
      {
        'by esbuild as CommonJS': [example('copied/app.cjs'), 'copied/app.cjs'],
        'by esbuild as ESM': [example('copied/app.mjs'), 'copied/app.mjs'],
        'by webpack': ['webpack --config webpack.copied.config.js', 'copied/webpack.cjs'],
        'by ncc': [example('dist/ncc'), 'dist/ncc/index.cjs'],
      },
      runsElsewhere,
    )
  })

  it('with the binary of this system alone, has all locks', async () => {
    await bundle(example('folders/app.cjs'))
    const binaries = path.join(dir, 'folders', 'node_modules', 'boxoffice', 'prebuilds')
    for (const system of readdirSync(binaries)) {
      if (system.startsWith(`${process.platform}-${process.arch}`)) continue
      rmSync(path.join(binaries, system), { recursive: true })
    }
    await runsElsewhere('folders/app.cjs', 'folders')
  })

  /** Bundles `file` and the package, without any option for it. */
  const plain = (file) => ({
    'by esbuild as CommonJS': [
      `esbuild ${file} --bundle --platform=node --outfile=plain/esbuild/${file}.cjs`,
      `plain/esbuild/${file}.cjs`,
    ],
    'by esbuild as ESM': [
      `esbuild ${file} --bundle --platform=node --format=esm --outfile=plain/esm/${file}.mjs`,
      `plain/esm/${file}.mjs`,
    ],
    'by webpack': [
      `webpack ./${file} --config none.mjs --mode production --target node -o plain/webpack/${file}`,
      `plain/webpack/${file}/main.js`,
    ],
    'by Rollup': [
      `rollup ${file} --silent -p node-resolve -p commonjs -d plain/rollup/${file}`,
      `plain/rollup/${file}/${file.replace('.mjs', '.js')}`,
    ],
    'by Vite for SSR': [
      `vite build --config whole.mjs --ssr ${file} --outDir plain/vite/${file}`,
      `plain/vite/${file}/${file}`,
    ],
  })

  describe('without options, has the locks of the thread scope', () => {
    recipes(
      {
        ...plain('thread.mjs'),
        'by ncc': ['ncc build thread.cjs -o plain/ncc-thread', 'plain/ncc-thread/index.cjs'],
      },
      runsElsewhere,
    )
  })

  describe('without options, reports the missing addon at a lock of a wider scope', () => {
    recipes(plain('app.mjs'), async (output, name) => {
      const failure = execute(path.join(dir, output))
      await assert.rejects(failure, ({ stderr }) => {
        assert.match(stderr, /boxoffice runs from a bundle/)
        assert.match(stderr, new RegExp(`${name.split(' ')[1]}: .*external.*boxoffice`))
        assert.match(stderr, /copy the addon beside the bundle.*\n.*--loader:\.node=copy/)
        assert.doesNotMatch(stderr, /compiler/)
        return true
      })
    })
  })

  it('in a single executable, has all locks', async () => {
    await bundle(example('dist/sea.cjs'))
    const sea = {
      main: 'dist/sea.cjs',
      output: 'dist/sea.blob',
      disableExperimentalSEAWarning: true,
    }
    writeFileSync(path.join(dir, 'sea.json'), JSON.stringify(sea))
    await run(dir, process.execPath, ['--experimental-sea-config', 'sea.json'])
    const folder = path.join(empty, 'single')
    const installed = path.join('node_modules', 'boxoffice')
    cpSync(path.join(dir, installed), path.join(folder, installed), { recursive: true })
    const program = path.join(folder, 'app')
    copyFileSync(process.execPath, program)
    const postject = path.join(dir, 'node_modules', 'postject', 'dist', 'cli.js')
    const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
    const into = [program, 'NODE_SEA_BLOB', sea.output, '--sentinel-fuse', fuse]
    await run(dir, process.execPath, [postject, ...into])
    const { stdout } = await run(empty, program, [path.join(empty, 'locks')])
    assert.equal(stdout, 'sold 4')
  })

  it('left out of an archive of Electron, is complete beside it, and has all locks', async () => {
    const installed = path.join(dir, 'node_modules', 'boxoffice')
    const inApp = path.join('node_modules', 'boxoffice')
    const unpacked = path.join(dir, 'app.asar.unpacked')
    for (const each of ['app', 'app.asar', 'app.asar.unpacked'])
      rmSync(path.join(dir, each), { recursive: true, force: true })
    cpSync(installed, path.join(dir, 'app', inApp), { recursive: true })
    copyFileSync(path.join(dir, 'app.mjs'), path.join(dir, 'app', 'app.mjs'))
    await bundle(example('app.asar'))
    const filesOf = (folder) => readdirSync(folder, { recursive: true }).sort()
    assert.deepEqual(filesOf(path.join(unpacked, inApp)), filesOf(installed))
    assert.deepEqual(readdirSync(unpacked), ['node_modules'])
    // Node.js cannot read an archive, as Electron can.
    copyFileSync(path.join(dir, 'app.mjs'), path.join(unpacked, 'app.mjs'))
    const { stdout } = await execute(path.join(unpacked, 'app.mjs'))
    assert.equal(stdout, 'sold 4')
  })

  describe('with an engine', () => {
    const external = '--external:boxoffice'
    const of = (option, file) =>
      `esbuild redis.mjs --bundle --platform=node ${option} --outfile=redis/${file}`
    const copying = '--conditions=node-addons --loader:.node=copy'
    recipes({ 'loads as an external one': [of(external, 'a.cjs'), 'redis/a.cjs'] }, (output) =>
      execute(path.join(dir, output)),
    )
    recipes({ 'says that it must be external': [of(copying, 'b.cjs'), 'redis/b.cjs'] }, (output) =>
      assert.rejects(execute(path.join(dir, output)), ({ stderr }) =>
        /without its .*keeper_thread\.js(.|\n)*esbuild: --external:boxoffice/.test(stderr),
      ),
    )
  })
})
