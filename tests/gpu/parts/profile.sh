# Hardware counters of solves.
# needs: ncu (Nsight Compute) and Python
# writes: profile.jsonl
# takes: about 2 min

begin "hardware counters of solves"
if command -v ncu >/dev/null; then
  mapfile -t at < <(find_matrices boyd2_kkt rail_79841_A ct2010 nh2010 ACTIVSg25k_Ybus cs4 cit-Cora circuit_3)
  run_logged profile 300 python3 bench/profile.py "$BENCH" "$results/profile.jsonl" g2d5:300 "${at[@]}"
  report "counters of $(grep -c '"kernels"' "$results/profile.log") solves" $status "$log"
else
  say "skipped: there is no ncu (Nsight Compute)"
fi
