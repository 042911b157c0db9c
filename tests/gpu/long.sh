# Long runs and sanitizers: parts of tests/gpu/run.sh, which sources this file.

# A part that is one program: its last line is told, and its failures.
program_alone() { # NAME SECONDS COMMAND...
  local name=$1 limit=$2 status=0
  shift 2
  rm -f "$results/$name.jsonl"
  timeout -k 5 "$limit" "$@" -o "$results/$name.jsonl" >"$results/$name.log" 2>&1 || status=$?
  grep -E "^WRONG" "$results/$name.log" | head -20 | tee -a "$out"
  verdict "$name: $(tail -n 1 "$results/$name.log" | cut -c1-200)" $status "$results/$name.log"
}

if begin ampere "solves without clusters, in 163 KB and 99 KB of shared memory, by code for 8.0"; then
  rm -f "$results/ampere.jsonl"
  [ -x "$AMPERE" ] || $make -s ampere >"$results/ampere.log" 2>&1
  # the small matrices first: what there is no time for is named by the count
  mapfile -t at < <(find -L ${MATRICES:-"$SPTRSV_MATRICES"} -maxdepth 1 -name '*.mtx*' -printf '%s %p\n' | sort -n |
    cut -d' ' -f2-)
  timeout -k 5 140 "$AMPERE" -a chunk,thread,sell -m 10 -limits 166912,101376 -o "$results/ampere.jsonl" "${at[@]}" \
    >"$results/ampere.log" 2>&1
  status=$?
  grep -E "WRONG|DIFFER|^[0-9]* wrong|bandwidth" "$results/ampere.log" | tee -a "$out"
  verdict "$(cut -d'"' -f8 "$results/ampere.jsonl" | sort -u | wc -l) of ${#at[@]} matrices" $status \
    "$results/ampere.log"
  [ ! -f "$results/ampere.jsonl" ] || python3 bench/ampere.py "$results/ampere.jsonl" | tee -a "$out"
fi

if begin dags "random triangles, by every algorithm and setting, against serial"; then
  program_alone dags 240 "$DAGS" -launches 1e6 -seconds "${DAGS_SECONDS:-120}"
  grep -E "[0-9] launches$" "$results/dags.log" | sed 's/  */ /g; s/ launches$//' |
    paste -sd';' | sed 's/;/; /g' | fold -sw 118 | tee -a "$out"
fi

if begin same "one plan, 1,000,000 solves: the same bits, no growth"; then
  program_alone same 240 "$SAME" -seconds "${SAME_SECONDS:-20}"
  grep -E " solves in " "$results/same.log" | tee -a "$out"
fi

if begin shared "several processes on one GPU, MPS, other work on the GPU, memory nearly full"; then
  rm -f "$results/shared.jsonl"
  DAGS=$DAGS CROWD=$CROWD FULL=$FULL tests/gpu/shared.sh "$results" 2>&1 | tee -a "$out"
  status=${PIPESTATUS[0]}
  grep -E "^WRONG" "$results/shared.log" | head -20 | tee -a "$out"
  [ "$status" = 0 ] || failed=1
fi

if begin errors "backward errors of L, U, L^T, U^T of the real matrices"; then
  rm -f "$results/errors.jsonl" "$results"/errors-*.jsonl
  # large ones first, some at a time; what stops one is not the end of the others
  find -L ${MATRICES:-"$SPTRSV_MATRICES"} -maxdepth 1 -name '*.mtx*' -printf '%s %p\n' 2>/dev/null | sort -rn |
    cut -d' ' -f2- | xargs -P "${ERRORS_AT_ONCE:-8}" -I{} sh -c '
      name=$(basename "$2")
      timeout -k 5 "$3" "$1" -o "$4/errors-$name.jsonl" "$2" >"$4/errors-$name.log" 2>&1 ||
        echo "FAILED $name (exit status $?)" >>"$4/errors-$name.log"
    ' errors "$ERRORS" {} "${ERRORS_SECONDS:-80}" "$results"
  cat "$results"/errors-*.jsonl >"$results/errors.jsonl" 2>/dev/null
  cat "$results"/errors-*.log >"$results/errors.log" 2>/dev/null
  rm -f "$results"/errors-*
  grep -E "^(WRONG|FAILED)" "$results/errors.log" | head -40 | tee -a "$out"
  ! grep -qE "^(WRONG|FAILED)" "$results/errors.log" && [ -s "$results/errors.jsonl" ]
  verdict "errors of $(cut -d'"' -f4 "$results/errors.jsonl" | sort -u | wc -l) matrices" $?
fi

# A tool over a program; what it reports is in sanitizer-NAME.log
sanitize() { # NAME TOOL SECONDS [OPTIONS...] -- COMMAND...
  local name=$1 tool=$2 limit=$3 options=() log=$results/sanitizer-$1.log status=0
  shift 3
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  timeout -k 5 "$limit" compute-sanitizer --tool "$tool" --error-exitcode 9 ${options[@]+"${options[@]}"} "$@" \
    >"$log" 2>&1 || status=$?
  return $status
}
reported() { # LOG: its errors, counted
  grep -E "WRONG|DIFFER|: [A-Za-z]*rror|hazard|gave up| at .*\(|Uninitialized" "$1" |
    sed 's/0x[0-9a-f]*/0x/g; s/block ([^)]*)/block/g; s/thread ([^)]*)/thread/g' | sort | uniq -c | sort -rn |
    head -12 | tee -a "$out"
}
summary() { grep SUMMARY "$results/sanitizer-$1.log" | tail -1 | sed 's/=* *//'; }

if begin sanitizer "compute-sanitizer"; then
  small=(diag:1 diag:33 band:500:3 g2d5:40 g3d7:12 g3d27:8 rand:2000:4 dense:150 arrow:700 rmat:10:8)
  for tool in memcheck synccheck; do
    for precision in double float; do
      sanitize $tool-$precision $tool 120 -- "$BENCH" -a ours -m 0 -p $precision "${small[@]}"
      status=$?
      verdict "$tool, $precision: $(summary $tool-$precision)" $status
      [ $status = 0 ] || reported "$results/sanitizer-$tool-$precision.log"
    done
  done
  few=(-rows 200 -cases "${SANITIZER_CASES:-16}" -least 1)
  sanitize initcheck initcheck 120 -- "$DAGS" "${few[@]}"
  status=$?
  verdict "initcheck: $(summary initcheck)" $status
  [ $status = 0 ] || reported "$results/sanitizer-initcheck.log"

  # a value that is its own flag in shared memory counts as a race for the tool: without chunk and the search of level
  # sets
  for precision in double float; do
    sanitize racecheck-$precision racecheck 120 --kernel-name-exclude kernel_substring=levels_find -- \
      "$BENCH" -a thread,warp -m 0 -p $precision "${small[@]}"
    status=$?
    verdict "racecheck, $precision, without chunk and levels_find: $(summary racecheck-$precision)" $status
    [ $status = 0 ] || reported "$results/sanitizer-racecheck-$precision.log"
  done
fi
