// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// The address of the page, which names the filter and the chosen row.

/** Returns the id of the chosen row from the fragment of an address, or undefined. */
const chosenIn = (hash) => new URLSearchParams(hash.slice(1)).get('row') ?? undefined

/** Returns the address of the page with this filter and this row. */
function addressOf({ pathname, search }, filter, chosen) {
  const query = new URLSearchParams(search)
  if (filter === '') query.delete('filter')
  else query.set('filter', filter)
  const asked = query.size === 0 ? '' : `?${query}`
  return pathname + asked + (chosen === undefined ? '' : `#${new URLSearchParams({ row: chosen })}`)
}
