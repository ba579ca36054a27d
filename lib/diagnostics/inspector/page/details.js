// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// The details of the chosen row.

const hint =
  'Choose a row: its holders and waiters, since when, and with full diagnostics the stack of each acquire.'

/** Returns the details as [element, text, class]. `stacks` are those of the report, `own` is the id of the process. */
function detailsOf(row, stacks, own) {
  const { lock, key, held, holders, waiting, waiters } = row
  const said = [
    ['h3', titleOf(lock) + (key === undefined ? '' : `, key ${key}`)],
    ['p', `${numberOf(held, 'holder')}, ${waiting === 0 ? 'none' : count(waiting)} waiting`],
    ...marksOf(row).map((text) => ['p', text, 'bad']),
  ]
  for (const place of groupsOf(row)) {
    said.push(['h4', headOf(place)])
    for (const line of linesOf(place.holders, own)) said.push(['p', `held by ${line}`])
    for (const line of linesOf(place.waiters, own)) said.push(['p', `waiting: ${line}`])
    if (place.stack !== undefined) said.push(['pre', stacks[place.stack]])
  }
  for (const [all, shown, name] of [
    [held, holders, 'holder'],
    [waiting, waiters, 'waiter'],
  ]) {
    if (all > shown.length) said.push(['p', `${numberOf(all - shown.length, `more ${name}`)}`])
  }
  if (lock.madeAt !== undefined) said.push(['h4', 'made here'], ['pre', lock.madeAt])
  return said
}

/** Returns why the row is marked. */
function marksOf({ mark, holders, usual }) {
  if (mark === 'leaked') {
    const leaks = holders.filter(({ isLeaked }) => isLeaked).length
    const many = leaks === 1 ? 'A Releaser was' : `${count(leaks)} Releasers were`
    return [`${many} collected as garbage before it was called: what it holds stays locked.`]
  }
  if (mark !== 'long') return []
  return usual === undefined
    ? ['Held for more than 2 minutes.']
    : [`Held much longer than usual: p99 is ${duration(usual)}.`]
}

/** Shows the details. Rebuilds them only when they have changed, so that the user keeps the place. */
function showDetails(said, link) {
  const place = byId('chosen')
  const id = JSON.stringify([said, link])
  if (place.dataset.said === id) return
  place.dataset.said = id
  place.replaceChildren(...said.map((one) => element(...one)))
  if (link === undefined) return
  const anchor = element('a', 'Link to this row')
  anchor.href = link
  place.firstElementChild.after(anchor)
}
