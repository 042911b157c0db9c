/*
   chunk_graph.cuh: the triangle, its heights, and its schedule, for the kernels of the algorithm `chunk`.

   A position is the place of a row, or of a partial sum, in solve order: it comes after all positions that it depends
   on.
*/
#ifndef TRSV_CHUNK_GRAPH_CUH
#define TRSV_CHUNK_GRAPH_CUH

#include <limits.h>
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "solve/schedule/schedule.h"

enum {
  CHUNK_ITEMS = 32, /* dependencies of a position, at most; longer rows are split */
  CHUNK_BLOCK = 256 /* threads of a block in launches whose threads are independent */
};

/* A triangle; after long rows are split, that of the rows and partial sums by position, without its diagonal. */
struct ChunkGraph : TriangleView {
  const int *source; /* [entries] without owners: the index in the caller's values; with owners: a source (chunk.cuh) */
  const int *owner;  /* [rows] by position: the row, or -1 - row for a partial sum of it; NULL: no row is split */
  const int *own_diagonal; /* [rows] with owners: the source of the diagonal */
};

/* The off-diagonal entries of a position: [begin, begin + n). */
struct ChunkRow {
  int begin, n;
};

static TRSV_INLINE ChunkRow chunk_row(const ChunkGraph &G, int p)
{
  const int i = G.row_of(p);

  return {G.least(i), G.entries(i)};
}

/* The source of the value of an entry. */
static TRSV_INLINE int chunk_source(const ChunkGraph &G, int k)
{
  return G.owner ? G.source[k] : 2 + (G.source ? G.source[k] : k);
}

/* The source of the diagonal of a position's row. */
static TRSV_INLINE int chunk_diagonal(const ChunkGraph &G, int p)
{
  return G.owner ? G.own_diagonal[p] : G.stored ? chunk_source(G, G.diagonal(G.row_of(p))) : 1;
}

/* The row of a position, as in owner. */
static TRSV_INLINE int chunk_own_row(const ChunkGraph &G, int p) { return G.owner ? G.owner[p] : G.row_of(p); }

/* The graph of a triangle, and the heights of its positions. */
struct ChunkHeights {
  ChunkGraph graph;
  int        entries;  /* of the graph, with those of the diagonal */
  int        longest;  /* dependencies of a position, at most */
  int        stored;   /* the triangle stores its diagonal */
  int        toward;   /* 1: the values of a row follow that of its diagonal; -1: they precede it */
  int       *height;   /* [n] the length of the longest chain of dependents of each position */
  int        bits;     /* of a height */
  unsigned  *words;    /* of the launch that finds heights; the next launch checks TRSV_ABORT_DEVICE */
  void      *memory;   /* holds height and words */
  void      *extended; /* holds the graph if rows were split */
};

/* The caller frees the heights, also after an error. */
TrsvError TrsvChunkFindHeights(const TrsvMatrix *, const TrsvAnalysis *, const int *source, ChunkHeights *);
void      TrsvChunkHeightsFree(ChunkHeights *);

/* The time of each record: the number of its step, plus waits for other chunks. first, taken and sorted are NULL if
   each position has one record. */
struct ChunkSchedule {
  TrsvChunkSettings settings;     /* chunks may be fewer than requested */
  int               nodes, times; /* records; 1 + the last time */
  int              *cuts;         /* [chunks + 1] the first position of each chunk */
  int              *first;        /* [n + 1] the first record of each position */
  int              *taken;        /* [nodes] dependencies of the position in its earlier records */
  unsigned char    *sorted;       /* [entries] the dependencies of a position with several records, in the order in
                                     which they get ready */
  void             *memory;       /* holds cuts, first, taken and sorted */
  int              *time;         /* [nodes] */
  unsigned         *spare[2];     /* [nodes] scratch for the emission */
  void             *early;        /* holds time and spare; freed once all imports have cells */
  unsigned         *words;        /* of the launch; in placing */
  void             *placing;      /* holds words and the other scratch of the launch */
};

/* Schedules all positions: Begin launches, End waits and sets nodes and times.
   TRSV_ERR_UNSUPPORTED: these settings need keys or counts of more than 32 bits (Begin), or too many steps (End). */
TrsvError TrsvChunkPlaceBegin(const ChunkHeights *, const TrsvChunkSettings *, ChunkSchedule *);
TrsvError TrsvChunkPlaceEnd(ChunkSchedule *);
void      TrsvChunkScheduleFree(ChunkSchedule *);

/* The first record of position p; for p = n the number of records. */
static TRSV_INLINE int chunk_first(const int *first, int p) { return first ? first[p] : p; }

/* The chunk of a position: all chunks have about the same number of records. */
static TRSV_INLINE int chunk_of(int p, int n, const int *first, int chunks)
{
  return (int)((long long)chunk_first(first, p) * chunks / chunk_first(first, n));
}

/* The number of cells for imports that fit into a block's shared memory with the ring and so many stages. */
static inline int ChunkCapacity(const TrsvChunkSettings *s, int stages, int size)
{
  const int shared = (int)TrsvDeviceGetLimits().shared_bytes,
            fit  = (shared - CHUNK_FRONT - s->ring * size - stages * CHUNK_STAGE(s->length, size)) / size,
            most = 65536 - CHUNK_CELL - s->ring; /* cells have numbers of 16 bits */

  return (fit < most ? fit : most) / 16 * 16;
}

/* TRSV_ERR_UNSUPPORTED if count exceeds 32-bit indices. */
static inline TrsvError ChunkCount(size_t count, const char *what)
{
  return count >= INT_MAX ? TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: %zu %s exceed 32-bit indices", count, what)
                          : TRSV_SUCCESS;
}

/* Words that the blocks of one launch share. */
enum {
  CHUNK_MAXIMUM = TRSV_STATES,
  CHUNK_NODES,
  CHUNK_WIDE,     /* some value is too far from its row's diagonal for a distance of a byte */
  CHUNK_TOO_LATE, /* some cell for an import is not free in time */
  CHUNK_WORDS
};

#endif
