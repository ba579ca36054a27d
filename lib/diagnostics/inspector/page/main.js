'use strict'
// The page fetches the locks once a second, and draws them. It does not fetch while it is hidden or
// paused, and fetches less often from a process that answers slowly.

const interval = 1000
// fetch() rejects an address with credentials, like http://ops:password@host/.
const dataUrl = `${location.origin}${location.pathname.replace(/\/$/, '')}/data`
const mostRows = new URLSearchParams(location.search).get('top') ?? '10000'
const parts = { filter: byId('filter'), pause: byId('pause'), link: byId('link') }
let report
let asking = new AbortController()
let timer

/** Shows the name before the kind: it tells more, and a narrow page does not show the kind. */
function fillLock(cell, { lock }) {
  if (cell.firstElementChild === null) cell.append(element('span'), element('span', '', 'kind'))
  const [title, kind] = cell.children
  const name = nameOf(lock)
  setText(title, name ?? lock.kind)
  setText(kind, name === undefined ? '' : ` ${lock.kind}`)
  cell.title = titleOf(lock)
}

/** The columns of both tables: see virtualTable(). */
const lockColumn = { value: ({ lock }) => titleOf(lock), fill: fillLock }
const scopeColumn = textColumn(({ lock }) => lock.scope)
const countColumn = (name) => textColumn(({ totals }) => totals[name], count)
const timeColumn = (name) =>
  textColumn(
    ({ waits }) => waits[name],
    (ms, { totals }) => (totals.contended > 0 ? duration(ms) : ''),
  )

/** Shows the details of the row with the id `chosen`. `row` is undefined while the lock is idle. */
function showChosen(row, chosen) {
  const address = addressOf(location, parts.filter.value, chosen)
  if (address !== location.pathname + location.search + location.hash) {
    history.replaceState(null, '', address)
  }
  if (row !== undefined) showDetails(detailsOf(row, report.stacks, report.pid), address)
  else if (chosen === undefined || report === undefined) showDetails([['p', hint, 'empty']])
  else showDetails([['p', `Neither held nor waited for: ${chosen}`, 'empty']])
}

const rows = virtualTable('rows', {
  columns: [
    lockColumn,
    textColumn(({ key }) => key ?? ''),
    scopeColumn,
    textColumn((row) => holdersOf(row, report.pid)),
    textColumn(({ hold }) => hold, duration),
    textColumn(
      ({ waiting }) => waiting,
      (many) => (many > 0 ? count(many) : ''),
    ),
    textColumn(({ oldestWait }) => oldestWait, duration),
  ],
  mark({ key, waiting, mark }, line) {
    line.dataset.mark = mark ?? ''
    line.classList.toggle('hot', waiting > 0)
    line.classList.toggle('keyless', key === undefined)
  },
  onChoose: showChosen,
})

const totals = virtualTable('totals', {
  columns: [
    ...[lockColumn, scopeColumn],
    ...['acquisitions', 'contended', 'timeouts', 'aborts', 'abandoned', 'deadlocks'].map(
      countColumn,
    ),
    ...['p50', 'p90', 'p99', 'max'].map(timeColumn),
    { fill: (cell, { waits }) => plotInto(cell, waits.buckets) },
  ],
})

/** Replaces the numbers of locks and stacks by the locks and stacks, except for the stacks of holders and waiters. */
function rowsOf(given) {
  const locks = report.locks.map((lock) => ({ ...lock, madeAt: report.stacks[lock.madeAt] }))
  return given.map((row) => ({ ...row, lock: locks[row.lock], hold: row.holders?.[0]?.heldFor }))
}

let samples = []

function showWaiting({ at, waiting }) {
  samples = remember(samples, at, waiting)
  setText(byId('waiting'), count(waiting))
  byId('spark').lastElementChild.setAttribute('d', sparkPath(samples))
  setText(byId('spark-label'), sparkLabel(samples))
}

function show() {
  const { pid, threads, all, found, oldestWait, deadlocks } = report
  const deaf = threads.filter(({ answered }) => !answered).map(({ id }) => id)
  const many = numberOf(threads.length, 'thread')
  setText(byId('pid'), String(pid))
  setText(byId('threads'), deaf.length === 0 ? many : `${many}, no answer from ${deaf.join(', ')}`)
  byId('threads').className = deaf.length === 0 ? '' : 'bad'
  setText(byId('busy'), count(all))
  setText(byId('longest'), duration(oldestWait) || 'none')
  setText(byId('count'), count(deadlocks.length))
  const shown = report.rows.length === found ? '' : `${count(report.rows.length)} of `
  setText(byId('shown'), found === all && shown === '' ? '' : `${shown}${count(found)} found`)
  setText(byId('rows-empty'), all === 0 ? 'Nothing is held.' : 'Nothing matches the filter.')
  showWaiting(report)
  rows.show(rowsOf(report.rows))
  totals.show(rowsOf(report.totals))
  showDeadlocks(report)
}

function say(text, className) {
  setText(parts.link, text)
  parts.link.className = className
}

const isPaused = () => parts.pause.getAttribute('aria-pressed') === 'true'

/** Fetches now, and aborts an older request that is still open. */
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

/** Lists the explanations of the headings, because a touch screen shows no tooltips. */
function explain(id) {
  const list = byId(`${id}-legend`)
  for (const head of byId(id).tHead.rows[0].cells) {
    list.append(element('dt', head.textContent), element('dd', head.title))
  }
}

byId('dismiss').addEventListener('click', () => dismiss(figures.values()))
parts.filter.value = new URLSearchParams(location.search).get('filter') ?? ''
parts.filter.addEventListener('input', () => {
  samples = []
  ask()
})
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
addEventListener('hashchange', () => rows.choose(chosenIn(location.hash)))
explain('rows')
explain('totals')
rows.choose(chosenIn(location.hash))
ask()
