#!/usr/bin/env bash
# Whether races.py sorts reports of racecheck as it should: recorded ones, and changed ones. Needs no GPU.
set -u
cd "$(dirname "$0")" || exit 1
. ../check.sh
head='========= Error: Race reported between Write access at'
and='=========     and Read access at'
end='========= RACECHECK SUMMARY: 3 hazards displayed (3 errors, 0 warnings)'
flag="$head trsv_shared_store(unsigned int, unsigned int)+0x2a80 in threads.cuh:174
$and T1 trsv_shared_load<unsigned int>(unsigned int)+0x26d0 in threads.cuh:151 [5232 hazards]"
named="$head trsv_shared_store(unsigned int, double)+0x4e20 in threads.cuh:64
$and trsv_store_if(double *, double, bool)+0x6940 in threads.cuh:64 [16 hazards]"
stage="$head trsv_shared_store(unsigned int, double)+0x4e20 in threads.cuh:166
$and T1 trsv_shared_load<TrsvQuad>(unsigned int)+0x62a0 in threads.cuh:159 [128 hazards]"
arguments='const PlaceView &, PlaceShared &, unsigned int, int, int'
batch="$head place_fetch($arguments, int, int, unsigned int)+0xa70 in chunk_place.cu:48
$and void place_all<(bool)1>(PlaceWarp, unsigned int, int)+0x15350 in chunk_place.cu:123 [12224 hazards]"
vote="========= Warning: Race reported between Read access at PlaceWarp::take_step(bool, int)+0x23c10 in\
 chunk_place.cuh:93
=========     and Write access at PlaceWarp::take_step(bool, int)+0x24a70 in chunk_place.cuh:95 [4 hazards]"
planted="$head chunk_sums(unsigned int, unsigned int *)+0x2a0 in chunk.cuh:89
$and chunk_sums(unsigned int, unsigned int *)+0x310 in chunk.cuh:91 [96 hazards]"

sorted() { # LOG PATTERN STATUS: does races.py print a line with PATTERN, and end so?
  local out status
  out=$(PYTHONDONTWRITEBYTECODE=1 python3 races.py /dev/stdin <<<"$1")
  status=$?
  [ $status = "$3" ] && grep -q -- "$2" <<<"$out" || { echo "$out, exit status $status"; return 1; }
}
check "races: words that are their own flags" sorted "$flag
$end" "^  1 reports: words that are" 0
check "races: a read that bears the name of a store to global memory" sorted "$named
$end" "^  1 reports: words that are" 0
check "races: records of a stage" sorted "$stage
$end" "^  1 reports: records and" 0
check "races: batches of chunk_place" sorted "$batch
$end" "^  1 reports: batches of" 0
check "races: steps of PlaceWarp::take_step" sorted "$vote
$end" "^  1 reports: steps of" 0
check "races: a second place is another report" sorted "$flag
${flag#*$'\n'}
$end" "^  2 reports: words that are" 0
check "races: a race of other places" sorted "$flag
$planted
$end" "UNEXPLAINED, 1 reports: .*'chunk_sums', 'chunk.cuh:89'.*'chunk.cuh:91'" 1
check "races: the writer of one exchange and the reader of another" sorted "${batch%%$'\n'*}
${flag#*$'\n'}
$end" "UNEXPLAINED, 1 reports: .*place_fetch.*trsv_shared_load" 1
check "races: a reader of an exchange that writes" sorted "${flag/and Read/and Write}
$end" "UNEXPLAINED, 1 reports" 1
check "races: a place without a line" sorted "$head 0x7f in kernel
${flag#*$'\n'}
$end" "UNEXPLAINED, 1 reports" 1
check "races: a log that ends early" sorted "$flag" "the log has no summary" 1
summary
