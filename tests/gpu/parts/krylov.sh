# KSP types cgdevice and bcgsdevice, compared with cg and bcgs; cgdevice also with GAMG that sptrsvgpu smooths.
# needs: a PETSc with CUDA
# writes: krylov.jsonl
# takes: about 100 s, at most 150 s

compare_types() { # NAME SECONDS OPTIONS...: adds lines to krylov.jsonl
  run_logged "$1" "$2" "$KRYLOV" "${@:3}" -dll_append "$LIB" -use_gpu_aware_mpi 0 -o "$results/krylov.jsonl"
  report "$(grep -c ' its ' "$log") comparisons" $status "$log"
  cut -c1-110 "$log" | tee -a "$out"
}

begin "KSP types with scalars on the GPU, compared with PETSc's own: time of KSPSolve"
rm -f "$results/krylov.jsonl"
mapfile -t at < <(find_matrices delaunay_n15 delaunay_n16 finance256 ct2010 nh2010 Dubcova1 slam_city10000 \
  slam_ais2klinik de2010 cs4 wave G3_circuit rail_79841_A cage10 BentPipe2D100 hymls_cavity2D_64_Re1000 \
  pyamg_recirc_flow)
compare_types krylov 90 -f "$(join g2d5:1000 g3d7:128 "${at[@]}")"

begin "the same with GAMG that sptrsvgpu smooths; cgdevice may take 3% longer than cg"
# last, and in a process of its own: GAMG's set-up may not end
mapfile -t at < <(find_matrices Dubcova1 cs4 delaunay_n16 rail_79841_A)
compare_types krylov_gamg 55 -gamg -f "$(join "${at[@]}" g2d5:500 g3d7:64 g2d5:1000)"
slow=$(awk '$2 == "gamg" && $10 > 1.03 * $6 { printf "; %s, %s: %s ms, cg: %s ms", $1, tolower($3), $10, $6 }' "$log")
[ -z "$slow" ] || report "cgdevice with GAMG${slow}" 1
