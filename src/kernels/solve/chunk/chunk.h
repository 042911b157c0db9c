/*
   chunk.h: parts of a plan of the algorithm `chunk`, and its functions for other files of the room.
*/
#ifndef TRSV_CHUNK_H
#define TRSV_CHUNK_H

#include "solve/plan/plan.h"
#include "solve/schedule/schedule.h"

TRSV_C_BEGIN

/* The export word of a record. Low half: the cell of the next chunk of the cluster that gets the result; 0: none. High
   half: 1 + the index of the result among the exports of its stage; 0: it is not exported. */

/* A chunk: the first and the number of its stages, imports and exports. Imports and exports go through L2. */
typedef struct {
  int stage, stages;
  int import_, imports;
  int export_, exports;
  int batch; /* of its first import */
} ChunkHead;

typedef struct {
  int word; /* the number of the export */
  int cell;
} ChunkImport;

/* The row of the table; and the algorithm without inverted blocks, of which plans with inverted blocks contain one. */
extern const TrsvAlgorithm TrsvChunk, TrsvChunkPlain;

/* The summary of a plan's schedule: that of the product if its blocks are inverted. */
const ChunkSummary *TrsvChunkPlanSummary(const TrsvPlan *);

TRSV_C_END
#endif
