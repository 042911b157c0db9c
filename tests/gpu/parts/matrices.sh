# ILU(0) of the real matrices, compared with PETSc's own.
# needs: a PETSc with CUDA
# writes: matrices.log
# takes: 35 s

begin "ILU(0) of the real matrices, against PETSc's own: $device"
run_logged matrices 600 $make -s check-matrices TEST_OPTIONS="$device -mat_sptrsvgpu_factorization device"
show "^not ok|passed, " 40
report matrices $status "$log"
