#!/usr/bin/env bash
# Runs parts of `make test-long`. After each it writes its line into results/long.txt: what passed, the time it took,
# and of which sources. The lines of other parts stay as they are.
#
# usage: tests/long.sh PART...
set -u
cd "$(dirname "$0")/.." || exit 1
file=results/long.txt status=0
touch $file
for part; do
  sources=$(tests/sources.sh makefile conf include src tests examples bench)
  TEST_TIMEOUT=86400 tests/run "$part" || status=1
  {
    grep -v "^$part " $file
    echo "$(tail -n 1 "build/tests/logs/$part.outcome"); $(date -u +%F), sources $sources"
  } | sort -o $file
done
cat $file
exit $status
