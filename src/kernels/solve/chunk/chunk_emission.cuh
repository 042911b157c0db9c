/*
   chunk_emission.cuh: the emission turns a schedule into a plan of the algorithm `chunk`. This is the data of its
   kernels.
*/
#ifndef TRSV_CHUNK_EMISSION_CUH
#define TRSV_CHUNK_EMISSION_CUH

#include "solve/chunk/chunk.cuh"
#include "solve/schedule/chunk_graph.cuh"

/* The schedule and the arrays of an emission. A use is a dependency that is read from a cell for imports. words: those
   of all launches of the emission. */
struct ChunkEmission : ChunkSchedule {
  ChunkGraph G;
  int        capacity, size, rows; /* cells for imports; bytes of a value; records of a stage */
  int        uses, stages, bits;   /* bits: of a time in key */
  int        stored, toward;       /* as in ChunkHeights */
  int        wide;                 /* CHUNK_WIDE */
  size_t     dependencies;

  /* Of each record: its position (NULL: the record's number), its place in the chunk (step * W + lane), its number in
     the order of times, the cell of the next chunk into which it is pushed. */
  int            *owner, *at, *index;
  unsigned short *push;
  /* In the order of chunks and times: chunk and time; record. Then sums over earlier records, [nodes + 1]: new steps,
     uses, exports, values with the diagonal's. The sums overwrite their terms; exports use the array of steps. */
  unsigned *key;
  int      *node, *step, *use, *export_, *source;
  int *begin, *stage;             /* of each chunk: its first record in the order of times, its first stage */
  int *stage_first, *stage_chunk; /* [stages + 1] a stage's first record in the order of times; [stages] its chunk */
  /* Of each use: its cell; its record; sums over earlier uses: first uses of imports, and of imports through L2. */
  unsigned short *cell;
  int            *user, *fresh, *import_;
  /* Of the uses sorted by result: the result, the number of the use, the number of groups before. group_cell: of each
     group (chunk_number.cu). */
  unsigned       *used;
  int            *sorted_use, *group;
  unsigned short *group_cell;
  ChunkImport    *imports; /* through L2: the record in the order of times, the cell */
  /* If cells are reused: a group's import; an import's first use in the sorted list, and the stage of its last use. */
  int *group_import, *import_head, *import_last;
  /* The draft: records without values and without gaps. draft has the indices of ChunkSources.wide: the cell of each
     dependency, and at the index of the diagonal the cell of the next chunk into which the result is pushed.
     first_export: of each stage, the number of its first export. */
  unsigned short *draft;
  int            *first_export;
};

static TRSV_INLINE int emit_chunk(const ChunkEmission &e, int i) { return (int)(e.key[i] >> e.bits); }

/* The stage, in its chunk, of record i in the order of times. */
static TRSV_INLINE int emit_stage(const ChunkEmission &e, int i) { return e.at[e.node[i]] / e.rows; }

/* Calls f(dependency, source) for each dependency of a record. */
template <class F> static TRSV_INLINE void emit_dependencies(const ChunkEmission &e, int node, F f)
{
  const int      p = e.owner ? e.owner[node] : node, records = chunk_first(e.first, p + 1) - chunk_first(e.first, p);
  const ChunkRow row   = chunk_row(e.G, p);
  int            begin = 0, end = row.n;

  if (records > 1) { /* as in chunk_place.cuh: sorted dependencies, and partial sums */
    const int K = e.settings.length, r = node - e.first[p], take = r < records - 1 ? K : row.n + records - 1 - r * K;
    begin       = e.taken[node];
    end         = r < records - 1 ? e.taken[node + 1] : row.n;
    for (int x = end - begin, b = r * K - begin; x < take; x++, b++) f(e.first[p] + b, 1);
  }
  for (int j = begin; j < end; j++) {
    const int k = row.begin + (records > 1 ? e.sorted[row.begin + j] : j), c = e.G.position(k);
    f(chunk_first(e.first, c + 1) - 1, chunk_source(e.G, k));
  }
}

/* Calls f(dependency) for each use of a record: a result of another chunk, or one that has left the ring. */
template <class F> static TRSV_INLINE void emit_uses(const ChunkEmission &e, int i, F f)
{
  const int node = e.node[i], first = chunk_first(e.first, e.cuts[emit_chunk(e, i)]), W = e.settings.width,
            step = e.at[node] / W;

  emit_dependencies(e, node, [&](int d, int) {
    if (d < first || (step - e.at[d] / W) * W > e.settings.ring - 2 * W) f(d);
  });
}

/* The scratch of an emission. early is needed until all imports have cells, numbered until the draft of the records is
   written, draft until the records are written. Most of it is freed before the records are allocated. */
struct ChunkScratch {
  TrsvScratch numbered[3], early[2], draft;
};

/* Allocates memory of a plan and counts its bytes. */
static inline TrsvError ChunkAllocate(TrsvPlan *plan, size_t bytes, void *pointer)
{
  plan->bytes += bytes;
  return TrsvDeviceAlloc(bytes, pointer);
}

/* The parts of an emission, in this order. Number: places of records, with a lifetime of imports. Cells: cells for
   imports; *fits: they fit into shared memory and, if they are reused, are free in time. Write: the draft, and what
   else a plan has without values. Records: the records. */
TrsvError TrsvChunkNumber(TrsvPrecision, const ChunkHeights *, const ChunkSchedule *, int lifetime, ChunkEmission *,
                          ChunkScratch *);
TrsvError TrsvChunkCells(TrsvPlan *, ChunkEmission *, ChunkScratch *, int *fits);
TrsvError TrsvChunkWrite(TrsvPlan *, ChunkEmission *, ChunkScratch *);
TrsvError TrsvChunkRecords(TrsvPlan *, const ChunkEmission *);

#endif
