/*
   table.h: the table of algorithms for callers outside of solve/, and papers that several files cite.
*/
#ifndef TRSV_TABLE_H
#define TRSV_TABLE_H

#include "base/types.h"

TRSV_C_BEGIN

/* An algorithm for solves with a triangle: a row of the table in algorithms.c. */
typedef struct TrsvAlgorithm TrsvAlgorithm;

const TrsvAlgorithm *TrsvAlgorithmGet(int i);             /* row i, NULL after the last */
const TrsvAlgorithm *TrsvAlgorithmFind(const char *name); /* NULL if this build has no algorithm of that name */
const char          *TrsvAlgorithmName(const TrsvAlgorithm *);
TrsvMemory           TrsvAlgorithmMemory(const TrsvAlgorithm *); /* of its plans, b and x */

/* Texts about an algorithm. */
typedef struct {
  const char *summary;  /* what it does, in a line */
  const char *citation; /* its origin in BibTeX; NULL: nothing to cite */
} TrsvAlgorithmTexts;
TrsvAlgorithmTexts TrsvAlgorithmDescribe(const TrsvAlgorithm *);

enum {
  TRSV_SETTINGS = 96 /* characters of the description of a plan's settings */
};

/* One candidate of tuning. */
typedef struct {
  const TrsvAlgorithm *algorithm;
  char                 settings[TRSV_SETTINGS]; /* "": none */
  double               seconds;                 /* of a solve, the median */
  double               error;                   /* of a solve, the largest componentwise backward error */
  int                  wrong; /* 1: rejected, as its error exceeds rounding and that of another candidate does not */
} TrsvTrial;

TRSV_C_END

/* In BibTeX, for PETSc's -citations. */
#define TRSV_CITE_CAPELLINI \
  "@inproceedings{CapelliniSpTRSV,\n" \
  "  author    = {Jiya Su and Feng Zhang and Weifeng Liu and Bingsheng He and Ruofan Wu and Xiaoyong Du and " \
  "Rujia Wang},\n" \
  "  title     = {{CapelliniSpTRSV}: A Thread-Level Synchronization-Free Sparse Triangular Solve on {GPU}s},\n" \
  "  booktitle = {49th International Conference on Parallel Processing (ICPP)},\n" \
  "  year      = {2020}\n" \
  "}\n"

#define TRSV_CITE_BLOCK_MULTICOLOR \
  "@inproceedings{IwashitaNakashimaTakahashi2012,\n" \
  "  author    = {Takeshi Iwashita and Hiroshi Nakashima and Yasuhito Takahashi},\n" \
  "  title     = {Algebraic Block Multi-Color Ordering Method for Parallel Multi-Threaded Sparse Triangular " \
  "Solver in {ICCG} Method},\n" \
  "  booktitle = {26th IEEE International Parallel and Distributed Processing Symposium (IPDPS)},\n" \
  "  year      = {2012}\n" \
  "}\n" \
  "@article{IwashitaLiFukaya2020,\n" \
  "  author  = {Takeshi Iwashita and Senxi Li and Takeshi Fukaya},\n" \
  "  title   = {Hierarchical Block Multi-Color Ordering: A New Parallel Ordering Method for Vectorization " \
  "and Parallelization of the Sparse Triangular Solver in the {ICCG} Method},\n" \
  "  journal = {CCF Transactions on High Performance Computing},\n" \
  "  year    = {2020}\n" \
  "}\n"

#endif
