'use strict'
// The page fetches the locks once a second, and draws them. It does not fetch while it is hidden or
// paused, and fetches less often from a process that answers slowly.

const interval = 1000
// Without the credentials of an address like http://ops:password@host/, which fetch() refuses.
const dataUrl = `${location.origin}${location.pathname.replace(/\/$/, '')}/data`
const mostRows = new URLSearchParams(location.search).get('top') ?? '10000'
const parts = { filter: byId('filter'), pause: byId('pause'), link: byId('link') }
let report
let asking = new AbortController()
let timer

function fillRow({ lock, key, holders, held, waiting, oldestWait, hold, mark }, cells, line) {
  const more = held > 1 ? ` and ${count(held - 1)} more` : ''
  const holder = held > 0 ? holderOf(holders[0], report.pid) + more : 'not held'
  const texts = [titleOf(lock), key ?? '', lock.scope, holder, duration(hold)]
  texts.push(waiting > 0 ? count(waiting) : '', duration(oldestWait))
  fillLock(cells[0], lock)
  for (let i = 1; i < texts.length; i++) setText(cells[i], texts[i])
  // Cut-off text can be read in the tooltip.
  for (const i of [0, 1, 3]) cells[i].title = texts[i]
  line.dataset.mark = mark ?? ''
  line.classList.toggle('hot', waiting > 0)
}

/** The kind is a separate element: a narrow page hides it if the lock has a name. */
function fillLock(cell, { kind, name }) {
  if (cell.firstElementChild === null) cell.append(element('span'), element('span'))
  const [first, second] = cell.children
  first.className = name === undefined ? '' : 'kind'
  setText(first, name === undefined ? kind : `${kind} `)
  setText(second, name ?? '')
}

function fillTotals({ lock, totals, waits }, cells) {
  const { acquisitions, contended, timeouts, aborts, abandoned, deadlocks } = totals
  const texts = [titleOf(lock), lock.scope]
  texts.push(...[acquisitions, contended, timeouts, aborts, abandoned, deadlocks].map(count))
  texts.push(
    ...[waits.p50, waits.p90, waits.p99, waits.max].map(contended > 0 ? duration : () => ''),
  )
  fillLock(cells[0], lock)
  for (let i = 1; i < texts.length; i++) setText(cells[i], texts[i])
  cells[0].title = texts[0]
  plotInto(cells[texts.length], waits.buckets)
}

const hint =
  'Choose a row: its holders, since when they hold it, and with full diagnostics the stack of each acquire.'

/**
 * Shows the details of one row. They are rebuilt only when they have changed, so that the reader
 * keeps the place.
 */
function showChosen(row) {
  const said = row === undefined ? 'hint' : JSON.stringify(wordsOf(row))
  const place = byId('chosen')
  if (place.dataset.said === said) return
  place.dataset.said = said
  if (row === undefined) {
    place.replaceChildren(element('p', hint, 'empty'))
    return
  }
  const key = row.key === undefined ? '' : `, key ${row.key}`
  place.replaceChildren(element('h3', titleOf(row.lock) + key), element('p', lineOf(row)))
  for (const text of marksOf(row)) place.append(element('p', text, 'bad'))
  for (const holder of row.holders) {
    place.append(element('p', saidOf(holder)))
    if (holder.stack !== undefined) place.append(element('pre', report.stacks[holder.stack]))
  }
  if (row.held > row.holders.length) {
    place.append(element('p', `and ${count(row.held - row.holders.length)} more`))
  }
}

const wordsOf = (row) => [row.id, lineOf(row), marksOf(row), row.holders.map(saidOf)]

/** Why the row is marked. */
function marksOf({ mark, holders, usual }) {
  if (mark === 'leaked') {
    const leaks = holders.filter(({ isLeaked }) => isLeaked).length
    const many = leaks === 1 ? 'A Releaser was' : `${count(leaks)} Releasers were`
    return [`${many} collected as garbage before it was called: what it holds stays locked.`]
  }
  return mark === 'long' ? [`Held much longer than usual: p99 is ${duration(usual)}.`] : []
}

function saidOf(holder) {
  const { since } = holder
  const from = since === undefined ? '' : `, since ${new Date(since).toLocaleTimeString()}`
  const leaked = holder.isLeaked ? ', Releaser collected' : ''
  return holderOf(holder, report.pid) + from + leaked
}

function lineOf({ waiting, held }) {
  const holders = held === 1 ? '1 holder' : `${count(held)} holders`
  return `${holders}, ${waiting === 0 ? 'none' : count(waiting)} waiting`
}

const showRows = virtualTable('rows', fillRow, showChosen)
const showTotals = virtualTable('totals', fillTotals)

function rowsOf(rows) {
  return rows.map((row) => ({
    ...row,
    lock: report.locks[row.lock],
    hold: row.holders?.[0]?.heldFor,
  }))
}

/** The figures of the deadlocks that the process reports, by their identity. */
const figures = new Map()
const dismissed = new Set()

/**
 * The newest deadlock comes first, and is open until a newer one comes. A figure that the reader
 * folds or unfolds stays so until then.
 */
function showDeadlocks() {
  const { deadlocks, stacks } = report
  const ids = deadlocks.map(({ at, message }) => `${at} ${message}`)
  for (const known of [figures, dismissed]) {
    for (const id of known.keys()) if (!ids.includes(id)) known.delete(id)
  }
  for (const [i, deadlock] of deadlocks.entries()) {
    if (figures.has(ids[i]) || dismissed.has(ids[i])) continue
    for (const older of figures.values()) older.querySelector('details').open = false
    const figure = figureOf(deadlock, stacks, () => dismiss([ids[i]]))
    figures.set(ids[i], figure)
  }
  placeFigures()
}

function dismiss(ids) {
  for (const id of ids) {
    dismissed.add(id)
    figures.delete(id)
  }
  placeFigures()
}

function placeFigures() {
  const wanted = [...figures.values()].reverse()
  const place = byId('cycles')
  const isSame =
    wanted.length === place.children.length && wanted.every((one, i) => one === place.children[i])
  if (!isSame) place.replaceChildren(...wanted)
  byId('deadlocks').hidden = wanted.length === 0
  byId('dismiss').hidden = wanted.length < 2
  byId('count').className = wanted.length === 0 ? '' : 'bad'
}

function show() {
  const { pid, threads, all, found, rows, waiting, oldestWait, deadlocks } = report
  const deaf = threads.filter(({ answered }) => !answered).map(({ id }) => id)
  const many = threads.length === 1 ? '1 thread' : `${threads.length} threads`
  setText(byId('pid'), String(pid))
  setText(byId('threads'), deaf.length === 0 ? many : `${many}, no answer from ${deaf.join(', ')}`)
  byId('threads').className = deaf.length === 0 ? '' : 'bad'
  setText(byId('busy'), count(all))
  setText(byId('waiting'), count(waiting))
  setText(byId('longest'), duration(oldestWait) || 'none')
  setText(byId('count'), count(deadlocks.length))
  const shown = rows.length === found ? '' : `${count(rows.length)} of `
  setText(byId('shown'), found === all && shown === '' ? '' : `${shown}${count(found)} found`)
  setText(byId('rows-empty'), all === 0 ? 'Nothing is held.' : 'Nothing matches the filter.')
  showRows(rowsOf(rows))
  showTotals(rowsOf(report.totals))
  showDeadlocks()
}

function say(text, className) {
  setText(parts.link, text)
  parts.link.className = className
}

const isPaused = () => parts.pause.getAttribute('aria-pressed') === 'true'

/** Fetches now, and drops an older request that is still open. */
async function ask() {
  clearTimeout(timer)
  asking.abort()
  asking = new AbortController()
  const { signal } = asking
  const start = performance.now()
  const query = new URLSearchParams({ top: mostRows, filter: parts.filter.value })
  try {
    const response = await fetch(`${dataUrl}?${query}`, { signal, cache: 'no-store' })
    if (!response.ok) throw new Error(await response.text())
    report = await response.json()
    show()
    if (!isPaused()) say('live', 'live')
  } catch (error) {
    if (signal.aborted) return
    say(`no answer, trying again: ${error.message}`, 'lost')
  }
  const wait = Math.max(interval, 4 * (performance.now() - start))
  if (!isPaused() && !document.hidden) timer = setTimeout(ask, wait)
}

byId('dismiss').addEventListener('click', () => dismiss([...figures.keys()]))
parts.filter.value = new URLSearchParams(location.search).get('filter') ?? ''
parts.filter.addEventListener('input', ask)
parts.pause.addEventListener('click', () => {
  const pause = !isPaused()
  parts.pause.setAttribute('aria-pressed', pause)
  if (!pause) return ask()
  clearTimeout(timer)
  asking.abort()
  say('paused', '')
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !isPaused()) ask()
})
showChosen()
ask()
