# Dense triangles, and sparse triangles with dense parts.
# needs: cuBLAS
# writes: dense.jsonl
# takes: about 1 min

begin "dense triangles, and dense parts of sparse ones"
rm -f "$results/dense.jsonl"
run_logged dense 120 "$DENSE" -o "$results/dense.jsonl"
show "$wrong"
report "dense triangles, double" $status "$log"
run_logged dense-float 120 "$DENSE" -p float -m 0 32 100 1000 3000
report "dense triangles, float" $status "$log"
mapfile -t at < <(find_matrices circuit_1 circuit_3 rajat01 qc324 as-caida_826 web-NotreDame)
run_logged dense-sparse 120 "$BENCH" -a dense,thread,chunk,cusparse -o "$results/dense.jsonl" \
  dense:1024 dense:4096 arrow:1000000 arrow:50000:128 "${at[@]}"
show "$wrong"
report "dense parts of sparse triangles" $status "$log"
