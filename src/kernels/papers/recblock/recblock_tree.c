/*
   The settings of `recblock` in words, and its two decision trees: the kernel of a triangular block, and of a square
   one.

   Source: Lu, Niu, Liu (ICPP 2020), "Adaptive Kernel Selection", with the thresholds `paper`. As in the authors' code,
     the mean of entries in a row includes the diagonal and is rounded down. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "papers/recblock/recblock.h"
#include "papers/settings.h"

static const char *const types[]      = {"column", "row", "recursive", NULL};
static const char *const thresholds[] = {"paper", "fitted", NULL};
static const char *const triangles[]  = {"auto", "level", "syncfree", "cusparse", NULL};
static const char *const squares[]    = {"auto", "scalar-csr", "scalar-dcsr", "vector-csr", "vector-dcsr", NULL};

static int ParseName(const char *const names[], const char *value, void *to)
{
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], value)) {
      if (to) *(int *)to = i;
      return 1;
    }
  return 0;
}

static int ParseType(const char *value, void *to) { return ParseName(types, value, to); }
static int ParseThresholds(const char *value, void *to) { return ParseName(thresholds, value, to); }
static int ParseTriangle(const char *value, void *to) { return ParseName(triangles, value, to); }
static int ParseSquare(const char *value, void *to) { return ParseName(squares, value, to); }

static int ParseDepth(const char *value, void *to)
{
  char      *end;
  const long depth = strtol(value, &end, 10);

  if (*value < '0' || *value > '9' || *end || depth > RECBLOCK_DEPTH_MAX) return 0;
  if (to) *(int *)to = (int)depth;
  return 1;
}

static const TrsvSetting settings[] = {
  {"type",       "column, row or recursive",                                      ParseType      },
  {"depth",      "a number from 0 to 12: there are 2^depth triangular blocks",    ParseDepth     },
  {"thresholds", "paper or fitted",                                               ParseThresholds},
  {"triangle",   "auto, level, syncfree or cusparse",                             ParseTriangle  },
  {"square",     "auto, scalar-csr, scalar-dcsr, vector-csr or vector-dcsr",      ParseSquare    },
  {NULL,         NULL,                                                            NULL           },
};

TrsvError TrsvRecblockSettingsGet(TrsvRecblockSettings *s)
{
  TrsvCall(TrsvSettingsCheck("recblock", settings));
  *s = (TrsvRecblockSettings){RECBLOCK_RECURSIVE, -1, RECBLOCK_PAPER, RECBLOCK_BY_TREE, RECBLOCK_BY_TREE};
  (void)TrsvSettingsGet(settings, "type", &s->type);
  (void)TrsvSettingsGet(settings, "depth", &s->depth);
  (void)TrsvSettingsGet(settings, "thresholds", &s->thresholds);
  (void)TrsvSettingsGet(settings, "triangle", &s->triangle);
  (void)TrsvSettingsGet(settings, "square", &s->square);
  return TRSV_SUCCESS;
}

void TrsvRecblockSettingsPrint(const TrsvRecblocks *r, char *line, size_t size)
{
  const TrsvRecblockSettings *s = &r->settings;
  const int                   n =
    snprintf(line, size, "type=%s depth=%d thresholds=%s", types[s->type], s->depth, thresholds[s->thresholds]);

  if (n < 0 || (size_t)n >= size) return;
  line += n;
  size -= (size_t)n;
  (void)snprintf(line, size, "%s%s%s%s", s->triangle ? " triangle=" : "", s->triangle ? triangles[s->triangle] : "",
                 s->square ? " square=" : "", s->square ? squares[s->square] : "");
}

/* The thresholds of the trees; "entries" are the mean number of entries in a row, rounded down. */
typedef struct {
  int    level_entries, level_sets; /* level-set kernel: at most so many entries and level sets; */
  int    single_sets;               /* or one entry and at most so many level sets; */
  int    level_longest;             /* in both cases at most so many entries in the longest row */
  int    cusparse_sets;             /* cuSPARSE: more level sets than this */
  int    lanes;          /* of a sync-free row; 0: the mean entries, or a 32nd of the longest row, rounded up */
  int    scalar_entries; /* a thread for each row: at most so many entries, */
  int    scalar_longest, scalar_rows; /* at most so many in the longest row, and at least so many rows not empty */
  double scalar_empty, vector_empty;  /* CSR: at most this share of empty rows; else DCSR */
  int    cut_sets;                    /* a triangle with more level sets than this is cut */
  int    rows;                        /* until a segment has fewer rows for each multiprocessor */
} Thresholds;

/* Paper: the depth is from the authors' code, which halves until half a segment has less than 20 rows for each core.
   Fitted: on an H200 (docs/papers.md). Cuts save a few per cent with many level sets, and cost time otherwise. A
   sync-free solve is fastest for more than two level sets, cuSPARSE never. A product in DCSR is at least as fast as in
   CSR if any row is empty. A warp for each row is faster for long rows, or if there are no more rows than warps. */
static const Thresholds values[] = {
  [RECBLOCK_PAPER]  = {15, 20, 100, INT_MAX, 20000, 32, 12, INT_MAX, 0, 0.5, 0.15, 0, 2 * 20 * 128},
  [RECBLOCK_FITTED] = {15, 2, 2, 64, INT_MAX, 0, INT_MAX, 32, 8448, 0, 0, 200, INT_MAX},
};

int TrsvRecblockDepth(const TrsvRecblockSettings *s, int rows, int levels, int multiprocessors)
{
  const double most  = (double)values[s->thresholds].rows * multiprocessors;
  int          depth = levels > values[s->thresholds].cut_sets;

  while (depth && depth < RECBLOCK_DEPTH_MAX && rows / (double)(1 << depth) >= most) depth++;
  return depth;
}

void TrsvRecblockChooseTriangle(const TrsvRecblockSettings *s, int stored, int has_cusparse, TrsvRecblockPart *b)
{
  const Thresholds *t       = &values[s->thresholds];
  const int         per_row = b->rows ? (int)(((long)b->entries + b->rows) / b->rows) : 0;
  int               lanes   = 1;

  b->kernel = s->triangle;
  if (!s->triangle) {
    const int few =
      (per_row <= t->level_entries && b->levels <= t->level_sets) || (per_row == 1 && b->levels <= t->single_sets);

    b->kernel = few && b->longest <= t->level_longest ? RECBLOCK_LEVEL
                : b->levels > t->cusparse_sets        ? RECBLOCK_CUSPARSE
                                                      : RECBLOCK_SYNCFREE;
  }
  if (b->levels <= 1) b->kernel = RECBLOCK_PARALLEL;
  if (b->kernel == RECBLOCK_CUSPARSE && !has_cusparse) b->kernel = RECBLOCK_SYNCFREE;
  while (lanes < 32 && (lanes * (long)b->rows < b->entries || 32 * lanes < b->longest)) lanes *= 2;
  b->lanes = t->lanes ? t->lanes : lanes;
  if (b->kernel == RECBLOCK_CUSPARSE && stored) b->entries += b->rows;
}

void TrsvRecblockChooseSquare(const TrsvRecblockSettings *s, int filled, TrsvRecblockPart *b)
{
  const Thresholds *t       = &values[s->thresholds];
  const int         per_row = b->rows ? b->entries / b->rows : 0;
  const int         empty   = b->rows - filled;

  b->kernel = s->square;
  if (!s->square) {
    const int scalar = per_row <= t->scalar_entries && b->longest <= t->scalar_longest && filled >= t->scalar_rows;

    if (scalar) b->kernel = empty <= t->scalar_empty * b->rows ? RECBLOCK_SCALAR_CSR : RECBLOCK_SCALAR_DCSR;
    else b->kernel = empty <= t->vector_empty * b->rows ? RECBLOCK_VECTOR_CSR : RECBLOCK_VECTOR_DCSR;
  }
  b->count = TrsvRecblockIsDcsr(b) ? filled : b->rows;
}
