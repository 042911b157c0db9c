/*
   chunk_emission.cuh: data that the kernels share which turn a schedule into a plan of the algorithm `chunk`.
*/
#ifndef TRSV_CHUNK_EMISSION_CUH
#define TRSV_CHUNK_EMISSION_CUH

#include "solve/chunk/chunk.h"
#include "solve/schedule/chunk_graph.cuh"

struct ChunkPlan; /* a plan: chunk.cuh */

/* The arrays of an emission. A use is a dependency that is read from a cell for imports. */
struct ChunkEmission {
  ChunkGraph           G;
  int                  K, W, chunks, cluster, ring, import_lifetime, capacity; /* capacity: cells for imports */
  int                  size;                                                   /* bytes of a value */
  int                  nodes, uses, stages, bits; /* nodes: records; bits: of a time in key */
  int                  stored, toward;            /* as in ChunkHeights */
  int                  wide; /* some value is too far from its row's diagonal for a distance of a byte */
  const int           *cuts, *first, *time, *taken;
  const unsigned char *sorted;

  /* By record: its position (NULL: the record's number), its place in the chunk (step * W + lane), its number in order
     of time, the cell of the next chunk into which it is pushed. */
  int            *owner, *at, *index;
  unsigned short *push;
  /* In order of chunk and time: chunk and time, record. Then sums over earlier records, [nodes + 1]: new steps, uses,
     exports, values with the diagonal's. Sums replace what is summed up; exports take the array of steps. */
  unsigned *key;
  int      *node, *step, *use, *export_, *source;
  /* By chunk: its first record in order of time, its first stage, its first batch. */
  int *begin, *stage, *batch;
  int *totals;                    /* [3] stages, uses, wide */
  int *stage_first, *stage_chunk; /* [stages + 1] the first record of a stage in order of time; [stages] its chunk */
  /* By use: its cell; the record that uses; sums over earlier uses: first uses of imports, and of imports through L2.
   */
  unsigned short *cell;
  int            *user, *fresh, *import_;
  /* By use sorted by result: the result, the number of the use, a sum over first uses of groups. By group: its cell. */
  unsigned       *used;
  int            *sorted_use, *group;
  unsigned short *group_cell;
  ChunkImport    *imports; /* through L2: the record in order of time, the cell */
  /* If cells are reused. By group: its import. By import: the first use in the sorted list, the stage of the last. */
  int      *group_import, *import_head, *import_last;
  unsigned *words; /* shared by the blocks of a launch */
};

static __device__ __forceinline__ int emit_chunk(const ChunkEmission &e, int i) { return (int)(e.key[i] >> e.bits); }
static __host__ __device__ __forceinline__ int emit_rows(const ChunkEmission &e) { return CHUNK_ROWS(e.K, e.size); }
/* The stage in its chunk of a record in order of time. */
static __device__ __forceinline__ int emit_stage(const ChunkEmission &e, int i)
{
  return e.at[e.node[i]] / emit_rows(e);
}

/* Calls f(dependency, source) for each dependency of a record. */
template <class F> static __device__ __forceinline__ void emit_dependencies(const ChunkEmission &e, int node, F f)
{
  const int      p = e.owner ? e.owner[node] : node, records = e.first ? e.first[p + 1] - e.first[p] : 1;
  const ChunkRow row   = chunk_row(e.G, p);
  int            begin = 0, end = row.n;

  if (records > 1) { /* in the order of chunk_place.cuh: dependencies by readiness, the others partial sums */
    const int r = node - e.first[p], take = r < records - 1 ? e.K : row.n + records - 1 - r * e.K;
    begin       = e.taken[node];
    end         = r < records - 1 ? e.taken[node + 1] : row.n;
    for (int x = end - begin, b = r * e.K - begin; x < take; x++, b++) f(e.first[p] + b, 1);
  }
  for (int j = begin; j < end; j++) {
    const int k = row.begin + (records > 1 ? e.sorted[row.begin + j] : j), c = chunk_position(e.G, k);
    f(e.first ? e.first[c + 1] - 1 : c, chunk_source(e.G, k));
  }
}

/* Calls f(dependency) for each use of a record: a result of another chunk, or one that has left the ring. */
template <class F> static __device__ __forceinline__ void emit_uses(const ChunkEmission &e, int i, F f)
{
  const int node = e.node[i], from = e.cuts[emit_chunk(e, i)], first = e.first ? e.first[from] : from,
            step = e.at[node] / e.W;

  emit_dependencies(e, node, [&](int d, int) {
    if (d < first || (step - e.at[d] / e.W) * e.W > e.ring - 2 * e.W) f(d);
  });
}

/* The source of the diagonal of a record's row; if it is not stored, the source before the first dependency's. */
static __device__ __forceinline__ int emit_diagonal(const ChunkEmission &e, int p, int first)
{
  const int d = e.stored ? chunk_diagonal(e.G, p) : first - 1;

  return d < 0 ? -d : d;
}

/* Records without their values and without gaps. cells is indexed like ChunkSources.wide: the cell of each dependency,
   and at the diagonal's index the cell of the next chunk into which the result is pushed. exports: by stage. */
struct ChunkDraft {
  unsigned short *cells;
  unsigned       *exports;
  void           *memory; /* holds both arrays */
};

#define CHUNK_EXPORTS_OF(rows) (1 + (rows) / 32)

/* The steps of an emission, in this order: numbers places; assigns cells; checks, if cells are reused, that they are
   free in time; writes the draft; writes the records. Scratch is split by lifetime, so that the records are allocated
   after most of it is freed. */
TrsvError TrsvChunkNumber(const ChunkHeights *, const ChunkSchedule *, ChunkEmission *, void **memory);
TrsvError TrsvChunkCells(ChunkEmission *, int blocks, ChunkHead *heads, ChunkSummary *, void *memory[2],
                         void *early[2]);
TrsvError TrsvChunkBatches(const ChunkEmission *, const ChunkSummary *, ChunkHead *heads, int *batch_of, int *after,
                           int *fits);
TrsvError TrsvChunkWrite(const ChunkEmission *, const ChunkSummary *, size_t sources, ChunkPlan *, ChunkDraft *);
TrsvError TrsvChunkRecords(const ChunkSummary *, TrsvPrecision, const ChunkDraft *, ChunkPlan *);

#endif
