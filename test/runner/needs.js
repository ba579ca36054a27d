'use strict'
// Which tests run when, and what they need of a machine.
const programs = require('../helpers/programs.js')

const servers = ['redis-server', 'PostgreSQL', 'etcd']

/** Mocha files that need nothing, but take long: memory use, the end of the stack, deaths, bundlers. */
const long = [
  'test/{process,host,diagnostics}/stack_end.test.js',
  'test/{thread,diagnostics}/memory.test.js',
  'test/process/{deaths,vm_contexts}.test.js',
  'test/host/chaos.test.js',
  'test/cluster/engines_absent.test.js',
  'test/package/{loading,types_oldest}.test.js',
]

/** Mocha files that need programs and run in npm test. */
const quick = [
  ['test/cluster/redis_contract.test.js', 'redis-server'],
  ['test/cluster/postgres_{contract,hand_over,steps}.test.js', 'PostgreSQL'],
  ['test/cluster/client_majors.test.js', 'redis-server'],
  ['test/cluster/{async_context,deployed_engines,ready}.test.js', ...servers],
  ['test/cluster/engines_keep_alive.test.js', 'PostgreSQL'],
  ['test/host/lacks.test.js', 'a clock that tests can set'],
]

/** Mocha files that need programs, most of them servers, and take longer. */
const full = [
  [
    'test/cluster/redis{,_cluster,_cluster_ends,_failover,_faults,_glide,_reshard,_rights,_sentinel,_state,_subscriber,_usual}.test.js',
    'redis-server',
  ],
  ['test/cluster/redis_access.test.js', 'redis-server', 'openssl'],
  ['test/cluster/redis_valkey.test.js', 'valkey-server'],
  [
    'test/cluster/postgres{,_access,_faults,_limits,_many,_transaction,_transaction_calls}.test.js',
    'PostgreSQL',
  ],
  ['test/cluster/postgres_{connections,first_statement}.test.js', 'PostgreSQL', 'pgbouncer'],
  ['test/cluster/etcd{,_cluster,_contract,_faults,_many,_told}.test.js', 'etcd'],
  ['test/cluster/etcd_access.test.js', 'etcd', 'openssl'],
  [
    'test/cluster/{engines_contexts,engines_jobs,first_session,leader_election,versions}.test.js',
    ...servers,
  ],
  ['test/cluster/operations.test.js', ...servers, 'etcdctl'],
  [
    'test/cluster/{guarantees_redis,redis_clock}.test.js',
    'redis-server',
    'a clock that tests can set',
  ],
  [
    'test/cluster/{guarantees_postgres,postgres_clock}.test.js',
    'PostgreSQL',
    'a clock that tests can set',
  ],
  ['test/cluster/guarantees_etcd.test.js', 'etcd', 'a clock that tests can set'],
  ['test/cluster/guarantees_network.test.js', ...servers, 'network namespaces'],
  ['test/package/{documentation,examples}_servers.test.js', ...servers],
  ['test/package/browser.test.js', 'chromium'],
]

/** Scripts of package.json. */
const scripts = [
  ['npm run test:native', 'cmake', 'a C++20 compiler', 'GoogleTest'],
  ['npm run test:kill', 'cmake', 'a C++20 compiler'],
  ['npm run bench:gate', 'redis-server'],
  ['npm run test:shop', 'chromium', 'redis-server', 'PostgreSQL'],
  ['npm run binaries -- linux-x64 && npm run test:install', 'zopfli'],
  ['npm run test:site'],
]

const missing = (names) => names.filter((name) => !programs[name].find())
const runsHere = ([, ...names]) => missing(names).length === 0

/** Lines that name the tests of `rows` that this machine cannot run, and the packages it lacks. */
function lacks(rows) {
  return rows
    .filter((row) => !runsHere(row))
    .map(([tests, ...names]) => {
      const packages = missing(names).map((name) => `${name} (Debian: ${programs[name].debian})`)
      return `Not run here: ${tests}: needs ${packages.join(', ')}`
    })
}

module.exports = { full, lacks, long, quick, runsHere, scripts }
