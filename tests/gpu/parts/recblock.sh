# Settings of the algorithm recblock.
# needs: the real matrices that it names
# writes: recblock.jsonl
# takes: about 1 min

begin "recblock: types, depths, thresholds"
rm -f "$results/recblock.jsonl"
settings=thread,chunk,sell
for s in depth=1 depth=3 depth=5 depth={0,1,2,3,4,6}:thresholds=fitted type={column,row}:depth=3 \
  type={column,row}:depth=3:thresholds=fitted; do settings=$settings,recblock:$s; done
mapfile -t at < <(find_matrices delaunay_n16 luxembourg_osm wave ct2010 finance256 cont-300_kkt rail_79841_A \
  as-caida_826 ACTIVSg25k_Ybus vsp_model1_crew1_cr42_south31 Dubcova1 PGPgiantcompo cage10 slam_city10000 boyd2_kkt \
  web-NotreDame G3_circuit)
run_logged recblock 120 "$BENCH" -m 4 -o "$results/recblock.jsonl" -a $settings "${at[@]}"
# a matrix with more than 20,000 level sets, for which the paper uses cuSPARSE
settings=recblock,recblock:depth=3:thresholds=fitted,recblock:depth=0:triangle=cusparse
[ $status != 0 ] || timeout -k 5 30 "$BENCH" -m 4 -o "$results/recblock.jsonl" \
  -a $settings,recblock:depth=0:thresholds=fitted band:100000:3 >>"$log" 2>&1 || status=$?
show "$wrong"
report recblock $status "$log"
