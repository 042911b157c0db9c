# Triangular solves by each algorithm, with its settings, compared with cuSPARSE. BENCH_OPTIONS: options of
# bench/bench.cu (default: -r 10 -pairs 1). MATRICES: generated matrices by name, files by path.
# needs: nothing else
# writes: solve.jsonl: a line for each algorithm, setting and triangle
# takes: 9 min

begin "triangular solves"
rm -f "$results/solve.jsonl"
made="g2d5:1000 g2d9:1000 g3d7:64 g3d7:128 g3d27:50 g3d27:80 band:100000:3 rand:1000000:3 rmat:20:16"
run_logged solve 1500 "$BENCH" -o "$results/solve.jsonl" ${BENCH_OPTIONS:--r 10 -pairs 1} \
  ${MATRICES:-$made "$SPTRSV_MATRICES"/*.mtx*}
# every algorithm is also captured in a graph and replayed, with the same bits
show "WRONG|DIFFER|captured|^[0-9]* wrong|bandwidth"
report "double" $status "$log"
[ ! -f "$results/solve.jsonl" ] || python3 bench/table.py --summary "$results/solve.jsonl" | tee -a "$out"
run_logged solve-float 600 "$BENCH" -p float -m 0 -a ours g2d5:300 g3d7:40 rmat:14:8 dense:200 \
  $(printf '%s\n' ${MATRICES:-"$SPTRSV_MATRICES"/*.mtx*} | grep /)
show "$wrong"
report "float" $status "$log"
