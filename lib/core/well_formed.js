'use strict'

/** Throws for a name that UTF-8 cannot encode, because several such names would become one lock. */
function checkWellFormed(name) {
  if (!name.isWellFormed()) {
    throw new RangeError('name must be well-formed Unicode: no half of a surrogate pair')
  }
}

module.exports = { checkWellFormed }
