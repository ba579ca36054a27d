// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// The deadlocks that the process has prevented: one line above the table, which unfolds for a minute when one is new.

const freshFor = 60_000

/** The deadlocks that the process reports, each with its figure, by their identity. */
const figures = new Map()
/** The id of the newest deadlock, and whether it is less than a minute old. */
let newest = { id: undefined, isFresh: false }

/** Returns the text of the line. `deadlocks` are the ones that are not dismissed, the newest last. */
function deadlockLine(deadlocks, at) {
  const time = deadlocks.at(-1).at
  const last = `${timeOf(time)} (${agoOf(at - time)})`
  return deadlocks.length === 1
    ? `1 deadlock was refused, at ${last}`
    : `${count(deadlocks.length)} deadlocks were refused, the last one at ${last}`
}

/**
 * Shows the figures. The newest deadlock comes first, and is unfolded until a newer one comes. A figure that the user
 * folds or unfolds stays so until then.
 */
function showDeadlocks({ at, deadlocks, stacks }) {
  const ids = deadlocks.map((deadlock) => `${deadlock.at} ${deadlock.message}`)
  for (const id of figures.keys()) if (!ids.includes(id)) figures.delete(id)
  for (const [i, deadlock] of deadlocks.entries()) {
    if (figures.has(ids[i])) continue
    for (const { figure } of figures.values()) figure.querySelector('details').open = false
    const one = { deadlock, isDismissed: false }
    one.figure = figureOf(deadlock, stacks, () => dismiss([one]))
    figures.set(ids[i], one)
  }
  const now = { id: ids.at(-1), isFresh: at - deadlocks.at(-1)?.at < freshFor }
  // A user's click on the line counts until another deadlock is the newest, or until this one is no longer fresh.
  if (now.id !== newest.id || now.isFresh !== newest.isFresh) byId('fold').open = now.isFresh
  newest = now
  placeFigures(at)
}

function dismiss(some) {
  for (const one of some) one.isDismissed = true
  placeFigures(report.at)
}

function placeFigures(at) {
  const shown = [...figures.values()].filter(({ isDismissed }) => !isDismissed)
  const wanted = shown.map(({ figure }) => figure).reverse()
  const place = byId('cycles')
  const isSame =
    wanted.length === place.children.length && wanted.every((one, i) => one === place.children[i])
  if (!isSame) place.replaceChildren(...wanted)
  // The line above folds a single figure.
  if (wanted.length === 1) wanted[0].firstElementChild.open = true
  setText(byId('dismiss'), wanted.length === 1 ? 'Dismiss' : 'Dismiss all')
  byId('deadlocks').hidden = wanted.length === 0
  byId('count').className = wanted.length === 0 ? '' : 'bad'
  if (shown.length === 0) return
  const deadlocks = shown.map(({ deadlock }) => deadlock)
  setText(byId('deadlocks-title'), deadlockLine(deadlocks, at))
}
