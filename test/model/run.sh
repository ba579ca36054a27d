#!/usr/bin/env bash
# Checks the models of the protocols exhaustively with spin: what holds must hold in every state, what
# has a seeded fault must fail, and the places where things are difficult must be reached.
# MODEL.searches has the searches of MODEL.pml. Arguments name the only models to check: run.sh mutex.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Most verifiers search for less time than gcc takes to compile them.
compiler=$(command -v tcc || echo gcc)
for tool in spin "$compiler"; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install $tool" >&2; exit 2; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# search safety|live DEFINES...: searches $model, and leaves what the verifier says in $scratch/out. Without -O: the
# optimizer of gcc takes longer than it saves.
search() {
  local kind=$1
  shift
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

# holds safety|live DEFINES...: no error, and nothing left unsearched.
holds() {
  search "$@"
  local good=false
  if said 'errors: 0$' && said '^Full statespace search' &&
    ! said 'not completed|too small|truncated|MEMLIM|out of memory|aborting|Error'; then
    good=true
  fi
  report $good "$model $*"
}

# fails safety|live HOW DEFINES...: an error, and the expected one.
fails() {
  local kind=$1 how=$2
  shift 2
  search "$kind" "$@"
  local good=false
  if said 'errors: [1-9]' && said "$how"; then good=true; fi
  report $good "$model $kind $* fails"
}

# reaches DEFINES... -- N...: the search comes to each of these places.
reaches() {
  local defines=()
  while [[ $1 != -- ]]; do
    defines+=("$1")
    shift
  done
  shift
  local place
  for place; do
    search safety "${defines[@]}" "-DREACHED=$place"
    local good=false
    # The assertion of another place reads the same, but for its number.
    if said 'errors: [1-9]' && said "assertion violated .*\\($place!=$place\\)"; then good=true; fi
    report $good "$model ${defines[*]} reaches $place"
  done
}

# Used by several models.
leftStanding='assertion violated .*invited==queue\[0\]|assertion violated .*size\)\|\|'  # invariants 4 and 5
overtaken='assertion violated .*(passed<=|&4|size\)\|\|)'
asserts='assertion violated'
stuck='invalid end state'
starves='acceptance cycle'
unserved='assertion violated \( ?!\(queued\[p\]\)|assertion violated .*part\[p\]==queued' # a living waiter is due

if (($# == 0)); then
  for file in "$here"/*.searches; do
    set -- "$@" "$(basename "$file" .searches)"
  done
fi
for model; do
  # shellcheck source=/dev/null
  source "$here/$model.searches"
done

((failed)) && echo "$failed models failed"
echo "$passed models passed"
[[ $failed -eq 0 ]]
