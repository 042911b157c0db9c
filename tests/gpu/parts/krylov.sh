# KSP types cgdevice and bcgsdevice, compared with cg and bcgs.
# needs: a PETSc with CUDA
# writes: krylov.jsonl
# takes: about 2 min

begin "KSP types with scalars on the GPU, compared with PETSc's own: time of KSPSolve"
rm -f "$results/krylov.jsonl"
mapfile -t at < <(find_matrices delaunay_n15 delaunay_n16 finance256 ct2010 nh2010 Dubcova1 slam_city10000 \
  slam_ais2klinik de2010 cs4 wave G3_circuit rail_79841_A cage10 BentPipe2D100 hymls_cavity2D_64_Re1000 \
  pyamg_recirc_flow)
run_logged krylov 300 "$KRYLOV" -f "$(join g2d5:1000 g3d7:128 "${at[@]}")" -dll_append "$LIB" -use_gpu_aware_mpi 0 \
  -o "$results/krylov.jsonl"
report "$(grep -c '"matrix"' "$results/krylov.jsonl") comparisons" $status "$log"
cut -c1-110 "$log" | tee -a "$out"
