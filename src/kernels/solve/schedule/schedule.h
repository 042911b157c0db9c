/*
   schedule.h: settings of the algorithm `chunk`, and what a schedule came to.

   The rows of a triangle in solve order are cut into chunks, a block of threads each. A row with more than `length`
   dependencies gets partial sums, rows of their own without a right-hand side. Every row or partial sum is a record; a
   chunk is a sequence of steps of at most `width` records, which the lanes of one warp work off side by side, reading
   from cells of shared memory alone:

     cell 0                         holds 0; an empty place of a record points here
     cells 2 .. 2 + ring - 1        results of this chunk: step s, lane l is in cell 2 + (s * width + l) % ring
     cells from 2 + ring            imports: results of other chunks, and of this one from longer ago than the ring
   holds

   Steps are grouped into stages, the unit in which records travel from device to shared memory.
*/
#ifndef TRSV_SCHEDULE_H
#define TRSV_SCHEDULE_H

#include "analysis/analysis.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CHUNK_LATE =
    2, /* dependencies of a record that may be one step old: its last ones; all others are two steps old or more */
  CHUNK_CELL   = 2,    /* where the ring of results starts */
  CHUNK_BATCH  = 128,  /* imports that a warp awaits at once */
  CHUNK_FRONT  = 1024, /* bytes of shared memory before the ring: barriers, counters, cell 0 */
  CHUNK_SHARED = 227 * 1024,
  CHUNK_LEAST  = 4 /* stages in shared memory at least */
};

/* A record of K dependencies: K values, the right-hand side's place (which holds 1/d until then), the export word, K
   cells of 16 bits; cut into quads of 16 bytes; quad i of all lanes of a step stands together. */
#define CHUNK_QUADS(K, size) (((K) * ((size) + 2) + (size) + 4 + 15) / 16)
#define CHUNK_TAIL(K)        (1 + ((K) + 1) / 2)            /* 32-bit words of export word and cells */
#define CHUNK_ROWS(K)        ((K) <= 8 ? 256 : 128)         /* records of a stage */
#define CHUNK_STEPS(K, W)    (CHUNK_ROWS(K) / (W))          /* steps of a stage */
#define CHUNK_HEADER         16 /* bytes before a stage's records: where its exports start */
#define CHUNK_STAGE(K, size) (CHUNK_HEADER + CHUNK_ROWS(K) * CHUNK_QUADS(K, size) * 16)

typedef struct {
  int chunks;
  int length;  /* dependencies that a record holds: 2, 3, 5 or 13 */
  int width;   /* records of a step: 8 (of 2 or 3 dependencies) or 32 */
  int
    cluster; /* chunks in a cluster of blocks, whose neighbors push results into each other's shared memory; 1: none */
  int ring;    /* cells for results, a power of two, at least 4 stages */
  int stages;  /* stages in shared memory */
  int life;    /* stages for which an import keeps its cell before the cell is given to another; -1: all of them, every
                  import has its own */
  int far, near; /* steps that a result is taken to need to another chunk, to the next one of the cluster */
} TrsvChunkSettings;

/* What a schedule came to. */
typedef struct {
  TrsvChunkSettings settings; /* as used: chunks, cluster, stages and life may be others than those asked for */
  int               chunks;
  int               cells;    /* for imports, in each block */
  int               stages, imports, exports, batches, records;
  int               steps; /* the schedule's own estimate of a solve's steps, crossings included */
} ChunkSummary;

enum {
  CHUNK_CHOICES = 10 /* settings that are considered for a triangle */
};

/* Settings for a triangle with these statistics, on a device of so many multiprocessors, by the seconds that a solve
   with them is expected to take, the best first; returns how many there are. */
int    TrsvChunkSettingsRank(const TrsvStatistics *, int multiprocessors, TrsvChunkSettings choice[CHUNK_CHOICES],
                             double time[CHUNK_CHOICES]);
double TrsvChunkSettingsSeconds(const TrsvStatistics *, const TrsvChunkSettings *);

/* As a line of text. */
void      TrsvChunkSettingsPrint(const TrsvChunkSettings *, char *line, size_t size);


#ifdef __cplusplus
}
#endif
#endif
