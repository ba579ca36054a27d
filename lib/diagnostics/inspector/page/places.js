// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// The holders and waiters of a row by the place of their acquire, so that each stack is shown once.

/**
 * Returns [{ stack, holders, waiters }], in the order of the first holder or waiter. `stack` is undefined if not known.
 */
function groupsOf({ holders, waiters }) {
  const groups = new Map()
  const at = (stack) => {
    if (!groups.has(stack)) groups.set(stack, { stack, holders: [], waiters: [] })
    return groups.get(stack)
  }
  for (const holder of holders) at(holder.stack).holders.push(holder)
  for (const waiter of waiters) at(waiter.stack).waiters.push(waiter)
  return [...groups.values()]
}

const numberOf = (many, one) => (many === 1 ? `1 ${one}` : `${count(many)} ${one}s`)

/** Returns a text such as "3 holders, same place". */
function headOf({ stack, holders, waiters }) {
  const parts = []
  if (holders.length > 0) parts.push(numberOf(holders.length, 'holder'))
  if (waiters.length > 0) parts.push(numberOf(waiters.length, 'waiter'))
  if (stack !== undefined && holders.length + waiters.length > 1) parts.push('same place')
  return parts.join(', ')
}

/**
 * Returns one line for equal holders or waiters, with the time of the first: "3 × main thread, first since 10:00:01".
 */
function linesOf(members, own) {
  const groups = new Map()
  for (const member of members) {
    const text = holderOf(member, own) + (member.isLeaked ? ', Releaser collected' : '')
    const group = groups.get(text) ?? { text, many: 0, first: undefined }
    group.many++
    if (!(group.first <= member.since)) group.first = member.since ?? group.first
    groups.set(text, group)
  }
  return [...groups.values()].map(({ text, many, first }) => {
    const since = first === undefined ? '' : `since ${timeOf(first)}`
    if (many === 1) return since === '' ? text : `${text}, ${since}`
    return since === '' ? `${many} × ${text}` : `${many} × ${text}, first ${since}`
  })
}

/** Returns a short text about all holders. `held` is their number, `holders` the first of them. */
function holdersOf({ holders, held }, own) {
  if (held === 0) return 'not held'
  const names = holders.map((holder) => holderOf(holder, own))
  if (held === 1) return names[0]
  const isOne = held === names.length && names.every((name) => name === names[0])
  return isOne ? `${held} × ${names[0]}` : `${names[0]} and ${count(held - 1)} more`
}

/** Returns the file and line of the first frame, such as `orders.js:12`, or undefined without a frame. */
function siteOf(stack = '') {
  const [frame] = stack.split('\n')
  return /([^\s/\\(:]+:\d+)(?::\d+)?\)?$/.exec(frame)?.[1]
}
