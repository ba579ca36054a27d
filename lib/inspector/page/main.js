'use strict'
// The page asks for the locks once a second, and draws what it hears. While it is hidden or paused it does not ask, and
// a process that takes long to answer is asked more seldom.

const interval = 1000
const dataUrl = `${location.pathname.replace(/\/$/, '')}/data`
const mostRows = new URLSearchParams(location.search).get('top') ?? '10000'
const parts = { filter: byId('filter'), pause: byId('pause'), link: byId('link') }
let report
let asking = new AbortController()
let timer

function fillRow({ lock, key, holders, held, waiting, oldestWait, hold }, cells, line) {
  const more = held > 1 ? ` and ${count(held - 1)} more` : ''
  const holder = held > 0 ? holderOf(holders[0], report.pid) + more : 'nobody'
  const texts = [titleOf(lock), key ?? '', lock.scope, holder, duration(hold)]
  texts.push(waiting > 0 ? count(waiting) : '', duration(oldestWait))
  for (const [i, text] of texts.entries()) setText(cells[i], text)
  cells[5].classList.add('line')
  line.classList.toggle('hot', waiting > 0)
}

function fillTotals({ lock, totals, waits }, cells) {
  const { acquisitions, contended, timeouts, aborts, abandoned, deadlocks } = totals
  const texts = [titleOf(lock), lock.scope]
  texts.push(...[acquisitions, contended, timeouts, aborts, abandoned, deadlocks].map(count))
  texts.push(
    ...[waits.p50, waits.p90, waits.p99, waits.max].map(contended > 0 ? duration : () => ''),
  )
  for (const [i, text] of texts.entries()) setText(cells[i], text)
  plotInto(cells[texts.length], waits.buckets)
}

/** What is known of one row. It is made anew when something of it has changed, and not while it is read. */
function showChosen(row) {
  const said = JSON.stringify(row && [row.id, lineOf(row), row.holders.map(saidOf)])
  const place = byId('chosen')
  if (place.dataset.said === said) return
  place.dataset.said = said
  if (row === undefined) {
    place.replaceChildren(element('p', 'A row tells who holds it, and where.', 'empty'))
    return
  }
  const key = row.key === undefined ? '' : `, key ${row.key}`
  place.replaceChildren(element('h3', titleOf(row.lock) + key), element('p', lineOf(row)))
  for (const holder of row.holders) {
    place.append(element('p', saidOf(holder)))
    if (holder.stack !== undefined) place.append(element('pre', report.stacks[holder.stack]))
  }
  if (row.held > row.holders.length) {
    place.append(element('p', `and ${count(row.held - row.holders.length)} more`))
  }
}

function saidOf(holder) {
  const { since } = holder
  const from = since === undefined ? '' : `, since ${new Date(since).toLocaleTimeString()}`
  return holderOf(holder, report.pid) + from
}

function lineOf({ waiting, held }) {
  const holders = held === 1 ? '1 holder' : `${count(held)} holders`
  return waiting === 0 ? `${holders}, nobody waits` : `${holders}, ${count(waiting)} in line`
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

function showDeadlocks() {
  const { deadlocks, stacks } = report
  const said = JSON.stringify(deadlocks.map(({ at, message }) => [at, message]))
  byId('deadlocks').hidden = deadlocks.length === 0
  const place = byId('cycles')
  if (place.dataset.said === said) return
  place.dataset.said = said
  place.replaceChildren(...deadlocks.toReversed().map((deadlock) => figureOf(deadlock, stacks)))
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
  byId('count').className = deadlocks.length === 0 ? '' : 'bad'
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

/** Asks now; an older question that is still open is dropped. */
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
ask()
