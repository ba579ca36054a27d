// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// A table of any number of rows. Only the visible rows and a few more are in the document; blank
// space above and below stands for the others. Elements are reused for changing rows.

/** In pixels, as in style.css. */
const rowHeight = 30
/** Extra rows beyond either edge, for scrolling before the next frame. */
const spare = 6

/**
 * @param {string} id of a table, whose head says which columns there are
 * @param {(row: object, cells: HTMLElement[], line: HTMLElement) => void} fill
 * @param {(row: object | undefined) => void} [onChoose] gets the chosen row, also at each update
 * @returns {(rows: object[]) => void} shows these; rows are the same by their `id`
 */
function virtualTable(id, fill, onChoose = () => {}) {
  const table = byId(id)
  const scroller = table.parentElement
  // Rows can be chosen by key, which requires the focus on the table.
  table.setAttribute('role', 'grid')
  table.tabIndex = 0
  const heads = [...table.tHead.rows[0].cells]
  const [above, middle, below] = ['space', 'window', 'space'].map((className) => {
    const body = element('tbody', '', className)
    if (className === 'space') body.append(spaceOf())
    table.append(body)
    return body
  })
  const lines = []
  let rows = []
  let chosen
  let isDue = false

  function lineAt(i) {
    if (lines[i] === undefined) {
      const line = element('tr')
      line.id = `${id}-${i}`
      line.append(...heads.map((head) => element('td', '', head.className)))
      lines[i] = { line, cells: [...line.cells], row: undefined }
    }
    return lines[i]
  }

  function draw() {
    isDue = false
    const first = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - spare)
    const seen = Math.ceil(scroller.clientHeight / rowHeight) + 2 * spare
    const last = Math.min(rows.length, first + seen)
    const start = Math.max(0, Math.min(first, last - seen))
    setHeight(above, start)
    setHeight(below, rows.length - last)
    while (middle.rows.length > last - start) middle.lastChild.remove()
    let active = ''
    for (let i = start; i < last; i++) {
      const { line, cells } = lineAt(i - start)
      const isChosen = rows[i].id === chosen
      if (line.parentElement === null) middle.append(line)
      line.setAttribute('aria-rowindex', i + 2)
      line.setAttribute('aria-selected', isChosen)
      lines[i - start].row = rows[i]
      fill(rows[i], cells, line)
      if (isChosen) active = line.id
    }
    table.setAttribute('aria-activedescendant', active)
  }

  function drawSoon() {
    if (isDue) return
    isDue = true
    requestAnimationFrame(draw)
  }

  function choose(row) {
    chosen = row?.id
    onChoose(row)
    drawSoon()
  }

  function bringIntoView(i) {
    const [top, height] = [i * rowHeight, scroller.clientHeight - rowHeight]
    if (top < scroller.scrollTop) scroller.scrollTop = top
    else if (top + rowHeight > scroller.scrollTop + height) {
      scroller.scrollTop = top + rowHeight - height
    }
  }

  function onKey(event) {
    const page = Math.floor(scroller.clientHeight / rowHeight) - 2
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
    const at = rows.findIndex((row) => row.id === chosen)
    const ends = { Home: 0, End: rows.length - 1, Escape: -1 }
    const to = ends[event.key] ?? at + steps[event.key]
    if (Number.isNaN(to)) return
    event.preventDefault()
    const next = event.key === 'Escape' ? -1 : Math.min(rows.length - 1, Math.max(0, to))
    choose(rows[next])
    if (next >= 0) bringIntoView(next)
  }

  scroller.addEventListener('scroll', drawSoon, { passive: true })
  addEventListener('resize', drawSoon)
  table.addEventListener('keydown', onKey)
  table.addEventListener('click', ({ target }) => {
    const found = lines.find(({ line }) => line.contains(target))
    if (found !== undefined) choose(found.row)
  })

  return (given) => {
    rows = given
    table.setAttribute('aria-rowcount', rows.length + 1)
    byId(`${id}-empty`).hidden = rows.length > 0
    onChoose(rows.find((row) => row.id === chosen))
    drawSoon()
  }
}

function spaceOf() {
  const line = element('tr')
  line.append(element('td'))
  line.setAttribute('aria-hidden', true)
  return line
}

function setHeight(body, rows) {
  body.hidden = rows === 0
  body.rows[0].cells[0].style.height = `${rows * rowHeight}px`
}
