# 1,000,000 solves of random triangles, compared with serial. DAGS_SECONDS: the time limit, after which fewer solves are
# done (default: 120).
# needs: nothing else
# writes: dags.jsonl
# takes: about 2 min

begin "random triangles, by every algorithm and setting, against serial"
run_long_program dags 240 "$DAGS" -launches 1e6 -seconds "${DAGS_SECONDS:-120}"
grep -E "[0-9] launches$" "$log" | sed 's/  */ /g; s/ launches$//' |
  paste -sd';' | sed 's/;/; /g' | fold -sw 118 | tee -a "$out"
