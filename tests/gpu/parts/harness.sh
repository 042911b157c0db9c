# PETSc's tests, with matrices on the GPU.
# needs: a PETSc with CUDA
# writes: harness.log
# takes: 220 s

begin "PETSc's harness: $device"
run_logged harness 900 $make -s check-petsc TEST_OPTIONS="$device"
show "^(not ok|FAIL)|passed, " 40
report harness $status "$log"
