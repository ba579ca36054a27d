// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// Sorts by a click on a heading. Without a click the rows keep the order in which the process sends them, by urgency.

const collator = new Intl.Collator('en', { numeric: true })

/**
 * Returns the sort after a click on `column`: first the largest numbers or the first letters on top, then the reverse,
 * then undefined for the order of the process.
 */
function nextSort(sort, column, isNumber) {
  if (sort?.column !== column) return { column, isDown: isNumber }
  return sort.isDown === isNumber ? { column, isDown: !isNumber } : undefined
}

/**
 * Returns the rows sorted. Rows without a value come last in either direction. Rows with equal values keep their order.
 */
function sortedBy(rows, of, isDown) {
  const pairs = rows.map((row) => ({ row, value: of(row) }))
  const [known, unknown] = [[], []]
  for (const pair of pairs) (isMissing(pair.value) ? unknown : known).push(pair)
  const sign = isDown ? -1 : 1
  known.sort((a, b) => sign * compare(a.value, b.value))
  return [...known, ...unknown].map(({ row }) => row)
}

const isMissing = (value) => value === undefined || value === null || value === ''

const compare = (a, b) => (typeof a === 'number' ? a - b : collator.compare(a, b))

/**
 * Makes a button of each of `heads` whose column has a function `value`, which returns the value of a row. Returns a
 * function that sorts rows by the last click. Calls `onSort` after each click.
 */
function sortButtons(heads, columns, onSort) {
  let sort
  for (const [column, head] of heads.entries()) {
    if (columns[column].value === undefined) continue
    const button = element('button', head.textContent)
    button.type = 'button'
    head.replaceChildren(button)
    head.setAttribute('aria-sort', 'none')
    button.addEventListener('click', () => {
      if (sort !== undefined) heads[sort.column].setAttribute('aria-sort', 'none')
      sort = nextSort(sort, column, head.classList.contains('number'))
      if (sort !== undefined)
        head.setAttribute('aria-sort', sort.isDown ? 'descending' : 'ascending')
      onSort()
    })
  }
  return (rows) =>
    sort === undefined ? rows : sortedBy(rows, columns[sort.column].value, sort.isDown)
}
