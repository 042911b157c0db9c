#!/usr/bin/env bash
# Runs parts of `make test-long`, and writes a line of each into results/long.txt: what passed, the time it took, and
# of which sources. The lines of other parts stay as they are.
#
# usage: tests/long.sh PART...
set -u
cd "$(dirname "$0")/.." || exit 1
file=results/long.txt
sources=$(tests/sources.sh makefile conf include src tests examples bench)
TEST_TIMEOUT=86400 tests/run "$@"
status=$?
for part; do
  echo "$(tail -n 1 "build/tests/logs/$part.outcome"); $(date -u +%F), sources $sources"
done >$file.new
[ ! -f $file ] || grep -v "^\($(printf '%s\\|' "$@")-\) " $file >>$file.new
sort -o $file $file.new
rm $file.new
cat $file
exit $status
