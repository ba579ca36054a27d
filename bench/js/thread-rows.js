// The works of several threads: the role of each thread, and the meaning of the numbers.
// A row has a line in the table for each of its numbers.

const awaitingMain = { place: 'main', form: 'awaiting' }
const awaitingWorker = { place: 'worker', form: 'awaiting' }
const blockingWorker = { place: 'worker', form: 'blocking' }

const threadRows = {
  'main-worker-1': contention(
    'main and a worker contend, a task each',
    [awaitingMain, awaitingWorker],
    1,
  ),
  'main-worker-10': contention(
    'main and a worker contend, 10 tasks each',
    [awaitingMain, awaitingWorker],
    10,
  ),
  'workers-sync': contention(
    'two workers contend, `lockSync`',
    [blockingWorker, blockingWorker],
    1,
  ),
  'hand-off-main-blocked': handOff('from main to a blocked worker', [awaitingMain, blockingWorker]),
  'hand-off-worker-blocked': handOff('from a worker to a blocked one', [
    blockingWorker,
    blockingWorker,
  ]),
  'hand-off-worker-main': handOff('from a worker to main, which awaits', [
    blockingWorker,
    awaitingMain,
  ]),
  'hand-off-main-worker': handOff('from main to a worker that awaits', [
    awaitingMain,
    awaitingWorker,
  ]),
}

function contention(title, threads, tasks) {
  return {
    title,
    work: 'contend',
    threads,
    tasks,
    lines: [
      { field: 'value', title, unit: 'k/s' },
      { field: 'longest', title: 'longest wait', unit: 'ms' },
      { field: 'fairness', title: 'fewest / most turns of a thread', unit: '' },
      { field: 'overlaps', title: 'times that two were inside', unit: '' },
    ],
  }
}

/** The first thread admits the second one. */
function handOff(whither, threads) {
  return {
    title: `hand-off ${whither}`,
    work: 'handOff',
    threads,
    lines: [
      { field: 'value', title: `hand-off ${whither}: p50`, unit: 'us' },
      { field: 'p99', title: 'p99', unit: 'us' },
    ],
  }
}

module.exports = { threadRows }
