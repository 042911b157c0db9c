# Counts checks; sourced by tests/*.sh.
passed=0 failed=0 skipped=0

check() { # NAME COMMAND...: passes if the command does
  local name=$1 out
  shift
  if out=$("$@" 2>&1 </dev/null); then
    echo "ok   $name"
    passed=$((passed + 1))
  else
    echo "FAIL $name: $out"
    failed=$((failed + 1))
  fi
}

skip() { # NAME REASON [COUNT]
  echo "skip $1: $2"
  skipped=$((skipped + ${3:-1}))
}

summary() { # fails if a check did
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ]
}
