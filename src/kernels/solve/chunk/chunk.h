/*
   chunk.h: what a plan of the algorithm `chunk` is made of, and what others see of it.
*/
#ifndef TRSV_CHUNK_H
#define TRSV_CHUNK_H

#include "solve/plan/plan.h"
#include "solve/schedule/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The export word: low half, the cell of the next chunk of the cluster that takes the result (0: none); high half, 1 +
   its place among the exports of its stage (0: none). */

typedef struct {
  int stage, stages;   /* first of the chunk, how many */
  int import_, imports; /* likewise: what it gets through L2 */
  int export_, exports; /* and what it gives through L2 */
  int batch;           /* of its first import */
  int cells;           /* cells for imports */
} ChunkHead;

typedef struct {
  int word; /* which export */
  int cell;
} ChunkImport;

/* The row of the table; and the same without inverted blocks, of which plans with such blocks are made. */
extern const TrsvAlgorithm TrsvChunk, TrsvChunkPlain;

/* The analyze of a plan that has inverted diagonal blocks, if a size of blocks is estimated to pay. */
TrsvError TrsvChunkAnalyzeInverted(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);

/* The schedule that a plan runs, without its arrays; NULL where its blocks are inverted. */
const ChunkSummary *TrsvChunkPlanSummary(const TrsvPlan *);

#ifdef __cplusplus
}
#endif
#endif
