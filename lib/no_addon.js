'use strict'
// In place of addon.js in a bundle: nothing. Locks of the thread scope need no addon.
