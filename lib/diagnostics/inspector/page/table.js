// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// A table of any number of rows. Only the visible rows and a few more are in the document; blank
// space above and below stands for the others. Elements are reused for changing rows.

/** Extra rows beyond either edge, for scrolling before the next frame. */
const spare = 6

/**
 * @param {string} id of a table, whose head has the columns
 * @param {object} parts
 * @param {{ value?: (row: object) => string | number | undefined, fill: (cell: HTMLElement, row: object) => void }[]}
 * parts.columns with the value by which a column is sorted, if it is
 * @param {(row: object, line: HTMLElement) => void} [parts.mark] marks a line
 * @param {(row: object | undefined, id: string | undefined) => void} [parts.onChoose] gets the chosen row, also at each
 * update, and its id, also while there is no such row
 * @returns `show(rows)`, which tells rows by their `id`; and `choose(id)`, which brings the row into view
 */
function virtualTable(id, { columns, mark = () => {}, onChoose = () => {} }) {
  const table = byId(id)
  const scroller = table.parentElement
  const heads = [...table.tHead.rows[0].cells]
  const sorted = sortButtons(heads, columns, arrange)
  const [above, middle, below] = table.tBodies
  giveRoles(table, heads)
  let given = []
  let rows = []
  let chosen
  /** The rows that the lines show. */
  const shownIn = new WeakMap()
  let isSought = false
  let isDue = false

  function addLine() {
    const line = element('tr')
    line.id = `${id}-${middle.rows.length}`
    line.setAttribute('role', 'row')
    line.append(...heads.map((head) => element('td', '', head.className)))
    for (const cell of line.cells) cell.setAttribute('role', 'gridcell')
    middle.append(line)
    return line
  }

  /** The height of a row in pixels, from style.css. A narrow page has higher rows. */
  const rowHeight = () => Number.parseFloat(getComputedStyle(table).getPropertyValue('--row'))

  function draw() {
    isDue = false
    const height = rowHeight()
    if (isSought) bringIntoView(height)
    const first = Math.max(0, Math.floor(scroller.scrollTop / height) - spare)
    const seen = Math.ceil(scroller.clientHeight / height) + 2 * spare
    const last = Math.min(rows.length, first + seen)
    const start = Math.max(0, Math.min(first, last - seen))
    setHeight(above, start * height)
    setHeight(below, (rows.length - last) * height)
    while (middle.rows.length > last - start) middle.lastChild.remove()
    let active = ''
    for (let i = start; i < last; i++) {
      const line = middle.rows[i - start] ?? addLine()
      const isChosen = rows[i].id === chosen
      line.setAttribute('aria-rowindex', i + 2)
      line.setAttribute('aria-selected', isChosen)
      shownIn.set(line, rows[i])
      for (const [j, { fill }] of columns.entries()) fill(line.cells[j], rows[i])
      mark(rows[i], line)
      if (isChosen) active = line.id
    }
    table.setAttribute('aria-activedescendant', active)
  }

  function drawSoon() {
    if (isDue) return
    isDue = true
    requestAnimationFrame(draw)
  }

  const chosenAt = () => rows.findIndex((row) => row.id === chosen)

  function arrange() {
    rows = sorted(given)
    onChoose(rows[chosenAt()], chosen)
    drawSoon()
  }

  function choose(id) {
    chosen = id
    isSought = id !== undefined
    arrange()
  }

  /** Scrolls to the chosen row, as soon as there is one. */
  function bringIntoView(height) {
    const at = chosenAt()
    if (at < 0) return
    isSought = false
    // The scroller can only go as far as there are rows.
    setHeight(below, rows.length * height)
    const [top, room] = [at * height, scroller.clientHeight - table.tHead.offsetHeight]
    if (top < scroller.scrollTop) scroller.scrollTop = top
    else if (top + height > scroller.scrollTop + room) scroller.scrollTop = top + height - room
  }

  function onKey(event) {
    const page = Math.floor(scroller.clientHeight / rowHeight()) - 2
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
    const at = chosenAt()
    const ends = { Home: 0, End: rows.length - 1, Escape: -1 }
    const to = ends[event.key] ?? at + steps[event.key]
    if (Number.isNaN(to)) return
    event.preventDefault()
    const next = event.key === 'Escape' ? -1 : Math.min(rows.length - 1, Math.max(0, to))
    choose(rows[next]?.id)
  }

  scroller.addEventListener('scroll', drawSoon, { passive: true })
  addEventListener('resize', drawSoon)
  table.addEventListener('keydown', onKey)
  table.addEventListener('click', ({ target }) => {
    const row = shownIn.get(target.closest('tr'))
    if (row !== undefined) choose(row.id)
  })

  function show(all) {
    given = all
    table.setAttribute('aria-rowcount', all.length + 1)
    byId(`${id}-empty`).hidden = all.length > 0
    arrange()
  }
  return { show, choose }
}

/** Returns a column of text: of `textOf(value(row), row)`. The tooltip shows the whole text if the cell cuts it off. */
function textColumn(value, textOf = (text) => text) {
  const fill = (cell, row) => {
    const text = textOf(value(row), row)
    setText(cell, text)
    cell.title = text
  }
  return { value, fill }
}

/**
 * Sets the roles that make the table usable with the keyboard: its rows are chosen with the focus on the table. On a
 * narrow page rows are blocks, which have no roles by default.
 */
function giveRoles(table, heads) {
  table.tabIndex = 0
  const roles = { grid: [table], rowgroup: [table.tHead, ...table.tBodies], columnheader: heads }
  for (const [role, nodes] of Object.entries({ ...roles, row: [table.tHead.rows[0]] })) {
    for (const node of nodes) node.setAttribute('role', role)
  }
}

function setHeight(body, pixels) {
  body.hidden = pixels === 0
  body.rows[0].cells[0].style.height = `${pixels}px`
}
