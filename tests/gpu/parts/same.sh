# 1,000,000 solves of one plan, five times: the same bits, and no growth of memory. SAME_SECONDS: the time limit of each
# (default: 20).
# needs: nothing else
# writes: same.jsonl
# takes: about 1 min

begin "one plan, 1,000,000 solves: the same bits, no growth"
run_long_program same 240 "$SAME" -seconds "${SAME_SECONDS:-20}"
show " solves in "
