'use strict'
// The messages of all errors that the package makes, read from its code. `…` stands for values
// inside a message.
const ts = require('typescript-4.7')
const { filesIn, read } = require('./documents.js')

const gap = '…'
/** The end of a message of typeError(). */
const notThis = `, not ${gap}`
const maker = /^(?:\w*Error|DOMException)$/
/** The functions of lib/core/errors.js and caused_errors.js: (code, message). */
const codedMakers = new Set(['lockError', 'causedError'])
/** The errors that binding/call.cc makes of C++ faults. */
const codes = {
  badArgument: 'ERR_LOCK_MISUSE',
  notWaiting: 'ERR_LOCK_MISUSE',
  notHolder: 'ERR_LOCK_NOT_HELD',
  overflow: 'ERR_LOCK_RANGE',
  underflow: 'ERR_LOCK_RANGE',
  mismatch: 'ERR_LOCK_MISMATCH',
  segment: 'ERR_LOCK_SEGMENT',
  exhausted: 'ERR_LOCK_SEGMENT',
  capacity: 'ERR_LOCK_CAPACITY',
  unsupported: 'ERR_LOCK_UNSUPPORTED',
  forked: 'ERR_LOCK_FORKED',
}

/** Each `code: message`. Without a code, the class of the error replaces it. */
function messages() {
  const found = new Set()
  const add = (code, text) => {
    const message = text.replaceAll('\n', ' ').replaceAll(/…+/g, gap)
    // Not the template of typeError(), which has no text of its own but `not`.
    if (/\w/.test(message.replace(notThis, ''))) found.add(`${code}: ${message}`)
  }
  const scripts = filesIn('lib', 'binding')
    .filter((file) => /\.m?js$/.test(file) && !file.startsWith('lib/diagnostics/inspector/page/'))
    .map(parsed)
  const helpers = new Map(scripts.flatMap(helpersOf))
  for (const script of scripts) addOfScript(script, helpers, add)
  for (const file of filesIn('binding', 'src')) {
    if (/\.(?:cc|cpp|h)$/.test(file)) addOfNative(read(file), add)
  }
  return [...found].sort()
}

const parsed = (file) =>
  ts.createSourceFile('', read(file), ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)

function addOfScript(script, helpers, add) {
  const visit = (node) => {
    // Its callers have the whole message.
    if (node.name?.text === 'checkType') return
    const made = madeBy(node) ?? madeByHelper(node, helpers)
    for (const message of textsOf(made?.message)) add(made.code, message + (made.end ?? ''))
    ts.forEachChild(node, visit)
  }
  visit(script)
}

/** The functions of `script` that make an error of a message which their caller gives: [name, { code, at }]. */
function helpersOf(script) {
  const found = []
  const visit = (node, outer) => {
    const maker = ts.isFunctionDeclaration(node) ? node : outer
    const made = madeBy(node)
    const at = maker?.parameters.findIndex(({ name }) => name.text === made?.message?.text) ?? -1
    const isWhole = made?.message !== undefined && made.end === undefined
    if (isWhole && ts.isIdentifier(made.message) && at >= 0) {
      found.push([maker.name.text, { code: made.code, at }])
    }
    ts.forEachChild(node, (child) => visit(child, maker))
  }
  visit(script)
  return found
}

function madeByHelper(node, helpers) {
  const helper = ts.isCallExpression(node) ? helpers.get(node.expression.text) : undefined
  return helper && { code: helper.code, message: node.arguments[helper.at] }
}

/** The code and the message of the error that `node` makes; undefined for any other node. */
function madeBy(node) {
  const name = node.expression?.text
  if (name === undefined) return undefined
  if (ts.isNewExpression(node) && maker.test(name))
    return { code: name, message: node.arguments[0] }
  if (!ts.isCallExpression(node)) return undefined
  const [code, message, hint] = node.arguments
  if (name === 'checkType') return { code: 'TypeError', message: code, end: typeOf(node.arguments) }
  if (name === 'typeError' || name === 'kindError')
    return { code: 'TypeError', message: code, end: notThis + (textsOf(hint)[0] ?? '') }
  if (!codedMakers.has(name)) return undefined
  return { code: code.text, message }
}

/** The end of the message of checkType(what, value, type, of). */
const typeOf = ([, , type, of]) => ` must be a ${textsOf(type)}${textsOf(of)}${notThis}`

/** The texts that an expression may evaluate to. */
function textsOf(node) {
  if (node === undefined) return []
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf)
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map(({ literal }) => gap + literal.text).join('')]
  }
  if (node.operatorToken?.kind === ts.SyntaxKind.QuestionQuestionToken) {
    return [node.left, node.right].flatMap(textsOf)
  }
  if (ts.isBinaryExpression(node)) {
    return textsOf(node.left).flatMap((left) => textsOf(node.right).map((right) => left + right))
  }
  const value = ts.isIdentifier(node) ? declarationOf(node) : undefined
  return value === undefined ? [gap] : textsOf(value)
}

/** The declared value of a variable, in a block around its use. */
function declarationOf(identifier) {
  for (let block = identifier.parent; block !== undefined; block = block.parent) {
    const declarations = (block.statements ?? [])
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
    const declared = declarations.find(({ name }) => name.text === identifier.text)
    if (declared !== undefined) return declared.initializer
  }
  return undefined
}

function addOfNative(text, add) {
  const code = text.replaceAll(/^\s*\/\/.*$/gm, '')
  for (const { 0: start, 1: fault, index } of code.matchAll(/\bFault::(\w+),|HostFault::(\w+),/g)) {
    add(codes[fault ?? start.match(/::(\w+)/)[1]], literalsIn(code.slice(index + start.length)))
  }
  for (const [, made, message] of code.matchAll(/napi_throw_\w+\(env, "(\w+)", "([^"]+)"\)/g)) {
    add(made, message)
  }
  // The other one, of scope host, is replaced in JavaScript.
  for (const [, message] of code.matchAll(/\bOtherStart\("(\w[^"]+)"/g)) {
    add('ERR_LOCK_MISMATCH', message)
  }
  for (const [, Kind, message] of code.matchAll(/Napi::(\w+Error)::New\(\w+, "([^"]+)"\)/g)) {
    add(Kind, message)
  }
}

/** The text of an argument of C++, which begins at the start of `code`. */
function literalsIn(code) {
  let depth = 1
  let message = ''
  for (const [token] of code.matchAll(/"(?:[^"\\]|\\.)*"|[(){}]|[^\s"(){}]+/g)) {
    if (token.startsWith('"')) message += JSON.parse(token)
    else if (/[({]/.test(token)) depth++
    else if (/[)}]/.test(token) && --depth === 0) break
    else if (/\w/.test(token) && !message.endsWith(gap)) message += gap
  }
  return message
}

module.exports = { messages }
