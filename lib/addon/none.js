'use strict'
// Replaces find.js in a bundle. Locks of the thread scope need no addon.
