# Searches among the schemes of the algorithm ag.
# needs: the real matrices that it names
# writes: ag_search.jsonl
# takes: about 1 min

begin "searches among ag's schemes, 2 s a matrix"
rm -f "$results/ag_search.jsonl"
mapfile -t at < <(find_matrices Dubcova1 cage10 circuit_3 hymls_cavity2D_64_Re1000 astro-ph finance256 delaunay_n16 \
  as-caida_826 cit-Cora ACTIVSg25k_Ybus slam_ais2klinik ct2010 rail_79841_A luxembourg_osm wave \
  vsp_model1_crew1_cr42_south31 web-NotreDame cont-300_kkt boyd2_kkt G3_circuit)
run_logged ag 120 "$AG" -search 2 -o "$results/ag_search.jsonl" "${at[@]}"
show "WRONG|tries|^[0-9]* wrong"
report "ag" $status "$log"
