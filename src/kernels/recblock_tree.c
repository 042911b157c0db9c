/*
   The settings of `recblock`, in words, and its two trees: which kernel solves a triangular block, which multiplies a square one.

   Source: Lu, Niu, Liu (ICPP 2020), "Adaptive Kernel Selection", whose thresholds are those of `paper`. Its code, and these, compare the mean of
   entries in a row, diagonal included, rounded down.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recblock.h"

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

  if (*value < '0' || *value > '9' || *end || depth > RECBLOCK_DEEPEST) return 0;
  if (to) *(int *)to = (int)depth;
  return 1;
}

const TrsvSetting TrsvRecblockWords[] = {
  {"type",       "column, row or recursive",                                      ParseType      },
  {"depth",      "a number from 0 to 12: there are 2^depth triangular blocks",    ParseDepth     },
  {"thresholds", "paper or fitted",                                               ParseThresholds},
  {"triangle",   "auto, level, syncfree or cusparse",                             ParseTriangle  },
  {"square",     "auto, scalar-csr, scalar-dcsr, vector-csr or vector-dcsr",      ParseSquare    },
  {NULL,         NULL,                                                            NULL           },
};

void TrsvRecblockSettingsGet(const TrsvAlgorithm *a, const char *words, TrsvRecblockSettings *s)
{
  *s = (TrsvRecblockSettings){RECBLOCK_RECURSIVE, -1, RECBLOCK_PAPER, RECBLOCK_BY_TREE, RECBLOCK_BY_TREE};
  (void)TrsvSettingGet(a, words, "type", &s->type);
  (void)TrsvSettingGet(a, words, "depth", &s->depth);
  (void)TrsvSettingGet(a, words, "thresholds", &s->thresholds);
  (void)TrsvSettingGet(a, words, "triangle", &s->triangle);
  (void)TrsvSettingGet(a, words, "square", &s->square);
}

void TrsvRecblockSettingsPrint(const TrsvRecblocks *r, char *line, size_t size)
{
  const TrsvRecblockSettings *s = &r->settings;
  const int                   n = snprintf(line, size, "type=%s depth=%d thresholds=%s", types[s->type], s->depth, thresholds[s->thresholds]);

  if (n < 0 || (size_t)n >= size) return;
  line += n;
  size -= (size_t)n;
  (void)snprintf(line, size, "%s%s%s%s", s->triangle ? " triangle=" : "", s->triangle ? triangles[s->triangle] : "", s->square ? " square=" : "", s->square ? squares[s->square] : "");
}

/* The trees' thresholds: entries in a row, rounded down; level sets; the share of rows that are empty. */
typedef struct {
  int    level_entries, level_sets; /* level-set kernel: no more than these */
  int    single_sets;               /* or one entry in a row, and no more level sets than these */
  int    cusparse_sets;             /* cuSPARSE: more than these */
  int    scalar_entries;            /* a thread for a row: no more than these */
  double scalar_empty, vector_empty; /* CSR: no more than these, else DCSR */
  int    lanes;                     /* of a sync-free row; 0: as many as it has entries, rounded up */
  int    rows;                      /* of a segment at most, for each multiprocessor */
} Thresholds;

/* rows: the authors' code halves until half a segment has less than 20 rows a core. fitted: on an H200, see docs/papers.md */
static const Thresholds values[] = {
  [RECBLOCK_PAPER]  = {15, 20, 100, 20000, 12, 0.5, 0.15, 32, 2 * 20 * 128},
  [RECBLOCK_FITTED] = {15, 4,  4,   20000, 12, 0.5, 0.15, 0,  2 * 20 * 128},
};

int TrsvRecblockDepth(const TrsvRecblockSettings *s, int rows, int multiprocessors)
{
  const double most  = (double)values[s->thresholds].rows * multiprocessors;
  int          depth = 1;

  while (depth < RECBLOCK_DEEPEST && rows / (double)(1 << depth) >= most) depth++;
  return depth;
}

void TrsvRecblockChooseTriangle(const TrsvRecblockSettings *s, int stored, int has_cusparse, TrsvRecblockPart *b)
{
  const Thresholds *t       = &values[s->thresholds];
  const int         per_row = b->rows ? (int)(((long)b->entries + b->rows) / b->rows) : 0;
  int               lanes   = 1;

  b->kernel = s->triangle;
  if (!s->triangle)
    b->kernel = (per_row <= t->level_entries && b->levels <= t->level_sets) || (per_row == 1 && b->levels <= t->single_sets) ? RECBLOCK_LEVEL :
                b->levels > t->cusparse_sets                                                                              ? RECBLOCK_CUSPARSE :
                                                                                                                            RECBLOCK_SYNCFREE;
  if (b->levels <= 1) b->kernel = RECBLOCK_PARALLEL;
  if (b->kernel == RECBLOCK_CUSPARSE && !has_cusparse) b->kernel = RECBLOCK_SYNCFREE;
  if (b->kernel == RECBLOCK_CUSPARSE && stored) b->entries += b->rows;
  while (lanes < 32 && lanes * (long)b->rows < b->entries) lanes *= 2;
  b->lanes = t->lanes ? t->lanes : lanes;
}

void TrsvRecblockChooseSquare(const TrsvRecblockSettings *s, int filled, TrsvRecblockPart *b)
{
  const Thresholds *t       = &values[s->thresholds];
  const int         per_row = b->rows ? b->entries / b->rows : 0;
  const int         empty   = b->rows - filled;

  b->kernel = s->square;
  if (!s->square && per_row <= t->scalar_entries) b->kernel = empty <= t->scalar_empty * b->rows ? RECBLOCK_SCALAR_CSR : RECBLOCK_SCALAR_DCSR;
  if (!s->square && per_row > t->scalar_entries) b->kernel = empty <= t->vector_empty * b->rows ? RECBLOCK_VECTOR_CSR : RECBLOCK_VECTOR_DCSR;
  b->count = TrsvRecblockIsDcsr(b) ? filled : b->rows;
}
