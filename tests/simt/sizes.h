/*
   sizes.h: sizes of src/kernels that the executor makes small, so that tests exceed them. Included by simt.h.
*/
#ifndef SIMT_SIZES_H
#define SIMT_SIZES_H

#define TRSV_POLLS    64
#define PLACE_WINDOW  64
#define PLACE_TIMES   24
#define SPLIT_THREADS 64

#endif
