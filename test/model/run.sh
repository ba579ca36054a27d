#!/usr/bin/env bash
# Checks the models of the protocols exhaustively with spin: what holds must hold in every state, what
# has a seeded fault must fail, and the places where things are difficult must be reached.
# An argument names the one model to check: run.sh mutex.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
only=${1:-}
# Most verifiers search for less time than gcc takes to compile them.
compiler=$(command -v tcc || echo gcc)
for tool in spin "$compiler"; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install $tool" >&2; exit 2; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# search MODEL safety|live DEFINES...: leaves what the verifier says in $scratch/out. Without -O: the optimizer of gcc
# takes longer than it saves.
search() {
  local model=$1 kind=$2
  shift 2
  local compile=(-DSAFETY -DNOFAIR) run=(-m1000000)
  if [[ $kind == live ]]; then
    compile=(-DNFAIR=3)
    run=(-a -f -m10000000)
  fi
  (
    cd "$scratch"
    rm -f pan* ./*.trail
    spin -a "$@" "$here/$model.pml" &&
      "$compiler" -w -DCOLLAPSE -DVECTORSZ=256 -DMEMLIM=2048 "${compile[@]}" -o pan pan.c &&
      ./pan "${run[@]}"
  ) >"$scratch/out" 2>&1 || true
}

report() {
  local good=$1 what=$2
  local states seconds
  states=$(awk '/states, stored/ { print $1; exit }' "$scratch/out")
  seconds=$(awk '/elapsed time/ { print $4; exit }' "$scratch/out")
  if $good; then
    passed=$((passed + 1))
    printf 'ok    %-62s %10s states %6s s\n' "$what" "${states:-no}" "${seconds:-?}"
  else
    failed=$((failed + 1))
    printf 'FAIL  %-62s %10s states %6s s\n' "$what" "${states:-no}" "${seconds:-?}"
    head -n 30 "$scratch/out" | sed 's/^/      | /'
  fi
}

said() { grep -Eq -- "$1" "$scratch/out"; }

wanted() { [[ -z $only || $only == "$1" ]]; }

# holds MODEL safety|live DEFINES...: no error, and nothing left unsearched.
holds() {
  wanted "$1" || return 0
  search "$@"
  local good=false
  if said 'errors: 0$' && said '^Full statespace search' &&
    ! said 'not completed|too small|truncated|MEMLIM|out of memory|aborting|Error'; then
    good=true
  fi
  report $good "$*"
}

# fails MODEL safety|live HOW DEFINES...: an error, and the expected one.
fails() {
  wanted "$1" || return 0
  local model=$1 kind=$2 how=$3
  shift 3
  search "$model" "$kind" "$@"
  local good=false
  if said 'errors: [1-9]' && said "$how"; then good=true; fi
  report $good "$model $kind $* fails"
}

# reaches MODEL DEFINES... -- N...: the search comes to each of these places.
reaches() {
  wanted "$1" || return 0
  local model=$1 defines=()
  shift
  while [[ $1 != -- ]]; do
    defines+=("$1")
    shift
  done
  shift
  local place
  for place; do
    search "$model" safety "${defines[@]}" "-DREACHED=$place"
    local good=false
    # The assertion of another place reads the same, but for its number.
    if said 'errors: [1-9]' && said "assertion violated .*\\($place!=$place\\)"; then good=true; fi
    report $good "$model ${defines[*]} reaches $place"
  done
}

wrongQueueBit='assertion violated .*size>0\)==\(word&1'       # invariant 1
leftStanding='assertion violated .*invited==queue\[0\]|assertion violated .*size\)\|\|'  # invariants 4 and 5
strayWake='assertion violated .*sem\['
overtaken='assertion violated .*(passed<=|&4|size\)\|\|)'
asserts='assertion violated'
stuck='invalid end state'
starves='acceptance cycle'
untidy='assertion violated .*word==owed|assertion violated .*word==\(' # at rest, and not as at the start
untold='assertion violated .*abandoned==' # a death is told twice, or not at all
notAlone='assertion violated .*!\(writer\)&&'
waits='assertion violated .*queue\[1\]' # a living process waits, and nothing happens any more

holds mutex safety -DTWICE=2
holds mutex safety -DTWICE=1 -DSHARED
holds mutex safety -DTWICE=1 -DPATIENCE=0
holds mutex safety -DN=4 -DTWICE=0 -DPATIENCE=1
holds mutex safety -DTWICE=2 -DFIFO
holds mutex live -DLIVE
holds mutex live -DLIVE -DSHARED
fails mutex safety "$stuck" -DBUG=1
fails mutex safety "$leftStanding" -DBUG=2
fails mutex safety "$stuck" -DBUG=3
fails mutex safety "$overtaken" -DBUG=4 -DTWICE=2 -DPATIENCE=0
fails mutex live "$starves" -DBUG=4 -DLIVE
fails mutex safety "$strayWake" -DBUG=5
fails mutex safety "$wrongQueueBit" -DBUG=6
fails mutex safety "$strayWake" -DBUG=7
fails mutex safety "$leftStanding" -DBUG=8
fails mutex safety 'invalid array index' -DBUG=9
fails mutex safety 'assertion violated .*word==0' -DBUG=10
fails mutex safety "$leftStanding" -DBUG=21
fails mutex safety "$leftStanding" -DBUG=22
fails mutex safety "$overtaken" -DBUG=23 -DTWICE=2
fails mutex safety "$leftStanding" -DBUG=24
reaches mutex -DSHARED -DTWICE=2 -DPATIENCE=2 -- 1 2 3 4 5 6 7 8 11

holds event safety
holds event safety -DSHARED
holds event safety -DN=4 -DTWICE=1
fails event safety "$asserts" -DBUG=1
fails event safety "$leftStanding" -DBUG=2
fails event safety "$asserts" -DBUG=10
fails event safety 'assertion violated .*owed==carried' -DBUG=11
fails event safety "$asserts" -DBUG=12
reaches event -DSHARED -- 2 3 8 11

holds semaphore safety -DSIGNALLERS=1 -DSIGNALS=3
holds semaphore safety -DSIGNALS=1
holds semaphore safety -DWAITERS=2 -DROUNDS=2
fails semaphore safety "$asserts" -DSIGNALLERS=1 -DSIGNALS=3 -DBUG=1
fails semaphore safety "$asserts" -DSIGNALLERS=1 -DSIGNALS=3 -DBUG=2
fails semaphore safety "$asserts" -DSIGNALLERS=1 -DSIGNALS=3 -DBUG=3
fails semaphore safety "$asserts" -DSIGNALLERS=1 -DSIGNALS=3 -DBUG=4
fails semaphore safety "$stuck" -DSIGNALLERS=1 -DSIGNALS=1 -DBUG=5
reaches semaphore -DSIGNALLERS=1 -DSIGNALS=3 -- 1 2

holds rwlock safety
holds rwlock safety -DSHARED
holds rwlock live -DLIVE
fails rwlock safety "$asserts" -DBUG=8
fails rwlock safety "$stuck" -DBUG=11
fails rwlock safety "$stuck" -DBUG=12
fails rwlock safety "$asserts" -DBUG=13
fails rwlock safety "$overtaken" -DBUG=14 -DTWICE=2
fails rwlock live "$starves" -DBUG=14 -DLIVE
reaches rwlock -DSHARED -- 2 3 5 6 7 8 11 12 13

holds keep_alive safety -DGRANTS=0
holds keep_alive safety
holds keep_alive safety -DGRANTS=2
fails keep_alive safety "$asserts" -DBUG=1
fails keep_alive safety "$stuck" -DBUG=2
fails keep_alive safety "$asserts" -DBUG=3
fails keep_alive safety "$stuck" -DBUG=4
fails keep_alive safety "$stuck" -DBUG=5
reaches keep_alive -- 1 2
reaches keep_alive -DGRANTS=2 -- 3

holds host_owner safety -DKILLS=0 -DTWICE=0
holds host_owner safety -DKILLS=0 -DSCRIPTS=0
holds host_owner safety -DKILLS=1 -DTWICE=0 -DSCRIPTS=0 -DLEAVES=0
holds host_owner safety -DKILLS=2 -DTWICE=0 -DSCRIPTS=0 -DLEAVES=0
holds host_owner safety -DKILLS=1 -DTWICE=0 -DSCRIPTS=0 -DLEAVES=0 -DBIRTHS=1
fails host_owner safety "$waits" -DKILLS=0 -DBUG=1
fails host_owner safety "$waits" -DKILLS=0 -DBUG=2
fails host_owner safety "$untidy" -DKILLS=0 -DBUG=3
fails host_owner safety "$waits" -DKILLS=0 -DBUG=4
fails host_owner safety "$untidy" -DKILLS=2 -DTWICE=0 -DSCRIPTS=0 -DLEAVES=0 -DBUG=5
fails host_owner safety "$waits" -DKILLS=1 -DTWICE=0 -DSCRIPTS=0 -DLEAVES=0 -DBUG=6
fails host_owner safety "$untidy" -DKILLS=2 -DTWICE=0 -DSCRIPTS=0 -DLEAVES=0 -DBUG=7
fails host_owner safety "$waits" -DKILLS=0 -DBUG=8
reaches host_owner -DKILLS=0 -DTWICE=0 -DLEAVES=0 -- 1
reaches host_owner -DKILLS=2 -DTWICE=0 -DSCRIPTS=0 -DLEAVES=0 -- 2

holds host_keys safety -DKILLS=0 -DTWICE=0
holds host_keys safety -DKILLS=1 -DTWICE=0 -DUSERS=2
holds host_keys safety -DKILLS=2 -DTWICE=0 -DUSERS=2
holds host_keys safety -DKILLS=0 -DTWICE=1 -DUSERS=2
holds host_keys safety -DKILLS=1 -DTWICE=1 -DUSERS=2
fails host_keys safety "$asserts" -DKILLS=0 -DTWICE=0 -DBUG=1
fails host_keys safety 'assertion violated .*digest' -DKILLS=0 -DTWICE=0 -DBUG=2
fails host_keys safety 'assertion violated .*digest' -DKILLS=0 -DTWICE=0 -DBUG=3
fails host_keys safety 'assertion violated .*digest' -DKILLS=0 -DTWICE=0 -DBUG=4
fails host_keys safety 'assertion violated .*dead' -DKILLS=1 -DTWICE=0 -DUSERS=2 -DBUG=5
fails host_keys safety 'assertion violated .*digest' -DKILLS=0 -DTWICE=0 -DBUG=6
fails host_keys safety 'assertion violated .*state' -DKILLS=1 -DTWICE=0 -DUSERS=2 -DBUG=7
fails host_keys safety 'assertion violated .*digest' -DKILLS=0 -DTWICE=1 -DUSERS=2 -DBUG=8
reaches host_keys -DKILLS=1 -DTWICE=0 -- 1 2 3 4 5 6 7
reaches host_keys -DKILLS=0 -DTWICE=1 -DUSERS=2 -- 8 9

holds host_rwlock safety -DKILLS=0 -DKEEPS=2 -DDOES1=1 -DDOES2=2 -DDOES3=3
holds host_rwlock safety -DKILLS=0 -DOVERDUE -DDOES1=10 -DDOES2=3 -DDOES3=5
holds host_rwlock safety -DKILLS=0 -DOVERDUE -DTWICE=1 -DDOES1=3 -DDOES2=3 -DDOES3=8
holds host_rwlock safety -DKILLS=0 -DREADERS=2 -DKEEPS=2 -DUPGRADES=1 -DLEAVES=1 -DDOES3=1
holds host_rwlock safety -DKILLS=0 -DREADERS=2 -DKEEPS=1 -DUPGRADES=1 -DDOWNGRADES=1 -DDOES2=1 -DDOES3=2
holds host_rwlock safety -DKILLS=1 -DREADERS=2 -DUPGRADES=2 -DBIRTHS=1 -DDOES1=1
holds host_rwlock safety -DKILLS=1 -DREADERS=2 -DUPGRADES=1 -DFAULTS=1 -DDOWNGRADES=1 -DDOES3=1
holds host_rwlock safety -DKILLS=1 -DWRITER=3 -DFAULTS=2 -DDOES1=1 -DDOES2=1
holds host_rwlock safety -DKILLS=2 -DWRITER=3 -DFAULTS=1 -DDOES1=1 -DDOES2=1
holds host_rwlock safety -DKILLS=2 -DDOES1=2 -DDOES2=2 -DDOES3=2
holds host_rwlock safety -DKILLS=2 -DWRITER=3 -DDOES1=2 -DDOES2=1
holds host_rwlock safety -DKILLS=2 -DWRITER=1 -DDOWNGRADES=1 -DDOES2=1
holds host_rwlock safety -DKILLS=2 -DREADERS=2 -DKEEPS=1 -DUPGRADES=2 -DDOES3=2
holds host_rwlock safety -DKILLS=2 -DREADERS=2 -DUPGRADES=2 -DDOES3=1
holds host_rwlock safety -DKILLS=2 -DREADERS=3 -DUPGRADES=3
fails host_rwlock safety "$asserts" -DKILLS=0 -DREADERS=2 -DBUG=1 -DDOES3=2
fails host_rwlock safety "$asserts" -DKILLS=0 -DREADERS=2 -DUPGRADES=1 -DBUG=2
fails host_rwlock safety "$untold" -DKILLS=1 -DWRITER=3 -DFAULTS=2 -DDOES1=1 -DDOES2=1 -DBUG=3
fails host_rwlock safety "$untold" -DKILLS=2 -DWRITER=3 -DFAULTS=1 -DDOES1=1 -DDOES2=1 -DBUG=4
fails host_rwlock safety 'assertion violated .*upgrader&3' -DKILLS=1 -DREADERS=2 -DUPGRADES=2 -DDOES3=1 -DBUG=5
fails host_rwlock safety 'assertion violated .*seen' -DKILLS=1 -DREADERS=2 -DUPGRADES=2 -DDOES3=1 -DBUG=6
fails host_rwlock safety "$notAlone" -DKILLS=0 -DREADERS=2 -DUPGRADES=1 -DDOES3=1 -DBUG=7
fails host_rwlock safety "$notAlone" -DKILLS=0 -DREADERS=2 -DUPGRADES=1 -DDOES3=1 -DBUG=8
fails host_rwlock safety "$untold" -DKILLS=1 -DREADERS=2 -DDOES1=2 -DDOES3=1 -DBUG=9
fails host_rwlock safety "$untold" -DKILLS=2 -DREADERS=2 -DUPGRADES=1 -DDOES3=1 -DBUG=10
fails host_rwlock safety "$untold" -DKILLS=2 -DWRITER=3 -DFAULTS=1 -DDOES1=1 -DDOES2=1 -DBUG=11
fails host_rwlock safety 'assertion violated .*queue.*&4' -DKILLS=0 -DREADERS=2 -DUPGRADES=2 -DTWICE=1 -DDOES1=2 -DBUG=12
fails host_rwlock safety 'assertion violated .*passed<=1' -DKILLS=0 -DOVERDUE -DTWICE=1 -DDOES1=3 -DDOES2=3 -DDOES3=8 -DBUG=13
fails host_rwlock safety "$asserts" -DKILLS=0 -DREADERS=2 -DUPGRADES=1 -DLEAVES=1 -DKEEPS=2 -DDOES3=1 -DBUG=14
fails host_rwlock safety "$asserts" -DKILLS=2 -DDOES1=2 -DDOES2=2 -DDOES3=2 -DBUG=15
reaches host_rwlock -DKILLS=2 -DREADERS=2 -DUPGRADES=2 -DDOES3=1 -- 1 2 4 7 9
reaches host_rwlock -DKILLS=2 -DWRITER=1 -DDOES2=2 -- 3
reaches host_rwlock -DKILLS=1 -DWRITER=3 -DFAULTS=2 -DDOES1=1 -DDOES2=1 -- 5 6 8

unserved='assertion violated \( ?!\(queued\[p\]\)|assertion violated .*part\[p\]==queued' # a living waiter is due
lost='assertion violated .*>=given'

holds host_admissions safety -DKILLS=0 -DSIGNALS=2 -DLEAVES=1
holds host_admissions safety -DKILLS=1 -DTWICE=1 -DTRIES=1
holds host_admissions safety -DKILLS=1 -DAGENTS=1
holds host_admissions safety -DKILLS=2
holds host_admissions safety -DKILLS=2 -DCONDITION -DLEAVES=1
holds host_admissions safety -DKILLS=1 -DCONDITION -DTWICE=1 -DSIGNALS=2
holds host_admissions safety -DKILLS=1 -DOPENS=1
fails host_admissions safety "$unserved" -DKILLS=2 -DBUG=1
fails host_admissions safety "$lost" -DKILLS=2 -DBUG=2
fails host_admissions safety "$lost" -DKILLS=2 -DBUG=3
fails host_admissions safety "$lost" -DKILLS=1 -DTWICE=1 -DCONDITION -DBUG=4
fails host_admissions safety "$lost" -DKILLS=1 -DBUG=5
fails host_admissions safety "$unserved" -DKILLS=0 -DBUG=6
fails host_admissions safety "$unserved" -DKILLS=0 -DLEAVES=1 -DBUG=7
fails host_admissions safety "$unserved" -DKILLS=1 -DOPENS=1 -DBUG=8
reaches host_admissions -DKILLS=1 -DTWICE=1 -DLEAVES=1 -DTRIES=1 -- 1 2 3 4 5
reaches host_admissions -DKILLS=1 -DTWICE=1 -DCONDITION -- 6

holds host_barrier safety -DKILLS=0 -DLEAVES=1 -DRESETS=1
holds host_barrier safety -DKILLS=1 -DRESETS=1
holds host_barrier safety -DKILLS=1 -DLEAVES=1
holds host_barrier safety -DKILLS=2 -DBREAKS=1 -DPARTIES=3
fails host_barrier safety "$unserved" -DKILLS=2 -DPARTIES=3 -DBUG=1
fails host_barrier safety "$asserts" -DKILLS=2 -DPARTIES=3 -DBUG=2
fails host_barrier safety 'assertion violated .*passed' -DKILLS=0 -DRESETS=1 -DBUG=3
fails host_barrier safety 'assertion violated .*passed' -DKILLS=0 -DRESETS=1 -DTWICE=1 -DBUG=4
fails host_barrier safety "$asserts" -DKILLS=1 -DLEAVES=1 -DPARTIES=3 -DBUG=5
fails host_barrier safety "$unserved" -DKILLS=0 -DBUG=6
fails host_barrier safety 'assertion violated .*queued\[1\]' -DKILLS=2 -DPARTIES=3 -DBUG=7
fails host_barrier safety 'assertion violated .*queued\[1\]' -DKILLS=2 -DPARTIES=3 -DBUG=8
reaches host_barrier -DKILLS=1 -DRESETS=1 -- 1 2 3 4
reaches host_barrier -DKILLS=0 -DRESETS=2 -- 5
reaches host_barrier -DKILLS=1 -DPARTIES=3 -- 6

holds host_latch safety -DKILLS=1 -DCHANGES=3
holds host_latch safety -DKILLS=0 -DEVENT
holds host_latch safety -DKILLS=2 -DEVENT -DTWICE=0 -DLEAVES=0
fails host_latch safety "$unserved" -DKILLS=1 -DBUG=1
fails host_latch safety "$unserved" -DKILLS=0 -DBUG=2
fails host_latch safety "$unserved" -DKILLS=0 -DEVENT -DBUG=3
fails host_latch safety "$unserved" -DKILLS=0 -DBUG=4
fails host_latch safety "$unserved" -DKILLS=0 -DEVENT -DCHANGES=3 -DBUG=5
reaches host_latch -DKILLS=0 -DEVENT -- 1 2 3

valid='assertion violated .*isFresh'  # two processes have a valid lease
waiting='assertion violated .*isWaiting' # a caller waits, and nothing happens any more
locked='assertion violated .*holder\)\|\|' # the server has a holder that no process knows
holds engine safety -DTWICE=1 -DGIVEUPS=1
holds engine safety -DTWICE=1 -DENDS=1
holds engine safety -DLAPSES=1
holds engine safety -DFAILS=1 -DGIVEUPS=1
holds engine safety -DCLOSES=1 -DGIVEUPS=1
holds engine safety -DKILLS=1 -DCUTS=1
holds engine safety -DN=2 -DTWICE=1 -DLAPSES=1 -DRENEWALS=1
holds engine safety -DN=2 -DTWICE=1 -DLAPSES=1 -DENDS=1
holds engine safety -DN=2 -DLAPSES=2 -DRENEWALS=1
holds engine safety -DN=2 -DTWICE=1 -DCLOSES=1 -DLAPSES=1
holds engine safety -DN=2 -DTWICE=1 -DFAILS=1 -DENDS=1
holds engine safety -DN=2 -DTWICE=1 -DFAILS=1 -DCUTS=1
holds engine safety -DN=2 -DSKIPS -DFAILS=1 -DENDS=1 -DCUTS=1
holds engine safety -DN=2 -DTWICE=2 -DREUSES=1 -DLOOKS=1
fails engine safety "$valid" -DN=2 -DTWICE=1 -DENDS=1 -DBUG=1
fails engine safety "$waiting" -DN=2 -DLAPSES=1 -DBUG=2
fails engine safety 'assertion violated .*leaseToken==latest' -DN=2 -DTWICE=1 -DLAPSES=1 -DBUG=3
fails engine safety "$valid" -DN=2 -DREUSES=1 -DBUG=4
fails engine safety "$valid" -DN=2 -DTWICE=1 -DLAPSES=1 -DRENEWALS=1 -DBUG=5
fails engine safety "$waiting" -DN=2 -DGIVEUPS=1 -DBUG=6
fails engine safety "$locked" -DN=2 -DFAILS=1 -DBUG=7
fails engine safety "$locked" -DN=2 -DENDS=1 -DBUG=8
fails engine safety 'assertion violated .*>latest' -DN=2 -DLAPSES=1 -DBUG=9
fails engine safety 'assertion violated .*>latest' -DN=2 -DTWICE=1 -DBUG=10
fails engine safety 'assertion violated holder ' -DN=2 -DTWICE=1 -DLAPSES=1 -DBUG=11
fails engine safety 'assertion violated .*isTold' -DN=2 -DTWICE=2 -DBUG=12
fails engine safety "$locked" -DN=2 -DFAILS=1 -DENDS=1 -DBUG=13
reaches engine -DN=2 -DTWICE=1 -DENDS=1 -- 1 4 10
reaches engine -DN=2 -DGIVEUPS=1 -- 2
reaches engine -DN=2 -DLAPSES=1 -DRENEWALS=1 -- 3 6 7
reaches engine -DN=2 -DFAILS=1 -- 5
reaches engine -DN=2 -DTWICE=1 -DCLOSES=1 -- 8 9

((failed)) && echo "$failed models failed"
echo "$passed models passed"
[[ $failed -eq 0 ]]
