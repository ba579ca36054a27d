'use strict'
// The examples of the documentation: where they are, and programs that run them.
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { run } = require('./processes.js')

const root = path.join(__dirname, '..', '..')
const world = path.join(__dirname, 'example_world.js')

const declaration =
  /^(?:export |declare |abstract )*(?:class|interface|function|const|type|namespace) (\w+)/gm
const comment = /^( *)\/\*\*\n([\s\S]*?)\*\/$/gm

/**
 * The blocks of @example in a file of declarations: { owner, title, codes }. `owner` is the
 * top-level declaration that they belong to. The last of `codes` is the example; the others precede
 * it in the same comment, and it may use their declarations.
 */
function examplesIn(declarations) {
  const names = [...declarations.matchAll(declaration)]
  return [...declarations.matchAll(comment)].flatMap(({ index, 0: all, 1: indent, 2: body }) => {
    const isMember = indent !== ''
    // The comment of a module that only exports other modules has none.
    const owner = isMember
      ? names.findLast((name) => name.index < index)[1]
      : names.find((name) => name.index > index + all.length)?.[1]
    const line = declarations.slice(0, index).split('\n').length
    return codesIn(body).map((_, i, codes) => ({
      owner,
      title: `${owner}, line ${line}, example ${i + 1}`,
      codes: codes.slice(0, i + 1),
    }))
  })
}

/** The code of each @example of a comment, which ends where the next tag begins. */
function codesIn(body) {
  const text = body.replace(/^ *\* ?/gm, '')
  const [, ...tags] = text.split(/^(?=@\w+)/m)
  return tags
    .filter((tag) => tag.startsWith('@example'))
    .map((tag) => tag.replace(/^@example.*\n/, '').trimEnd())
}

/**
 * The blocks of JavaScript in a Markdown file, except those whose first line is `// Not run here:
 * why`.
 */
function blocksIn(markdown) {
  const blocks = [...markdown.matchAll(/^```js(?: \[.*\])?\n([\s\S]*?)^```$/gm)].map(
    ([, code]) => code,
  )
  return blocks.filter((code) => !code.startsWith('// Not run here: '))
}

const imports = /^import (?:(\w+)|(\{[^}]*\})) from ('[^']+')$/gm

/** With a replacement for `import` inside a function. */
function withoutImports(code) {
  return code.replace(imports, (_, name, names, module) =>
    name === undefined
      ? `const ${names.replaceAll(' as ', ': ')} = await import(${module})`
      : `const { default: ${name} } = await import(${module})`,
  )
}

/** Why `code` cannot run here, or undefined. */
function lackOf(code) {
  const isUsing = /\busing \w+ =/.test(code)
  return isUsing && parseInt(process.versions.node, 10) < 24
    ? '`using` needs Node.js 24'
    : undefined
}

/** The end of an example's process: it has run to its end, and no error occurred. */
const good = { code: 0, signal: null, shown: ['ended'], stderr: '' }

/**
 * How a process ends that runs `codes`, each inside the one before; see `good`. With `exits` it is
 * ended, for code that leaves a connection to a server open.
 */
async function runExample(codes, { timeout = 20_000, env = {}, exits = false } = {}) {
  const nested = codes.reduceRight((inner, code) => `{\n${withoutImports(code)}\n${inner}}\n`, '')
  const script = `'use strict'
    const world = require(${JSON.stringify(world)})
    async function main({ ${Object.keys(require(root))} }, { ${Object.keys(require(world))} }) {
      ${nested}
      await visit()
    }
    main(require(${JSON.stringify(root)}), world).then(() => world.show('ended'))${
      exits ? '.then(world.turn).then(() => process.exit())' : ''
    }`
  // The files of locks between processes.
  const directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-example-'))
  try {
    const all = { BOXOFFICE_DIRECTORY: directory, ...env }
    const { code, signal, shown, stderr } = await run(['-e', script], { timeout, env: all })
    return { code, signal, shown, stderr }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

module.exports = { blocksIn, examplesIn, good, lackOf, root, runExample, withoutImports }
