/*
   The schemes of the algorithm `ag` in words, and the reduced space.

   Source: AG-SpTRSV (ACM TACO 21(4), 2024), Table 2; the words are the paper's, with a colon before a number. Its space
   has 3e5 schemes, reduced to 1.6e3 by experience. The 36 schemes here are every size of subwarp with single rows, in
   both orders, and schemes that differ from these in one other parameter or a few.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "papers/ag/ag.h"

const char TrsvAgWords[] =
  "words joined by commas: nw:2..32, ng:1..32, sw_rnnz:0..32 or inf, reorder or natural, merge_fixed:1..32, "
  "merge_avg:1..32 or merge_thresh:1..32, rg_sequential or rg_balance, ws_hardware, ws_rr, ws_balance or ws_locality, "
  "alpha:0, 2, 4, 8 or inf";

static const char *const merges[] = {"merge_fixed", "merge_avg", "merge_thresh"}, *const schedules[] = {
                                                                                    "ws_hardware", "ws_rr",
                                                                                    "ws_balance", "ws_locality"};

enum {
  INF = AG_INFINITE
};

static const AgScheme reduced[AG_REDUCED] = {
  /* nw, ng, sw_rnnz, reorder, merge, size, balance, ws, alpha */
  {4,  8,  0,   1, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  1,  0,   1, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  2,  0,   1, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  4,  0,   1, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  16, 0,   1, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  32, 0,   1, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  1,  0,   0, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  2,  0,   0, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  4,  0,   0, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  8,  0,   0, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  16, 0,   0, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {4,  32, 0,   0, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  /* a thread for each row, as in CapelliniSpTRSV; by the mean, as in YuenyeungSpTRSV; long rows alone */
  {4,  1,  INF, 0, AG_FIXED,  32, 0, AG_HARDWARE, INF},
  {4,  1,  INF, 1, AG_FIXED,  32, 0, AG_HARDWARE, INF},
  {4,  1,  8,   0, AG_AVG,    8,  0, AG_HARDWARE, INF},
  {4,  1,  8,   1, AG_AVG,    8,  0, AG_HARDWARE, INF},
  {4,  1,  16,  1, AG_THRESH, 16, 0, AG_HARDWARE, INF},
  {4,  4,  4,   1, AG_THRESH, 4,  0, AG_HARDWARE, INF},
  {4,  4,  8,   0, AG_FIXED,  8,  0, AG_HARDWARE, INF},
  {4,  8,  0,   1, AG_FIXED,  2,  0, AG_HARDWARE, INF},
  {4,  8,  4,   1, AG_FIXED,  4,  0, AG_HARDWARE, INF},
  /* balance, blocks of other sizes, lists */
  {4,  8,  0,   1, AG_FIXED,  1,  1, AG_HARDWARE, INF},
  {4,  32, 0,   1, AG_FIXED,  1,  1, AG_HARDWARE, INF},
  {16, 8,  0,   1, AG_FIXED,  1,  0, AG_HARDWARE, INF},
  {8,  8,  0,   1, AG_FIXED,  1,  0, AG_RR,       INF},
  {32, 8,  0,   1, AG_FIXED,  1,  0, AG_RR,       INF},
  {32, 32, 0,   1, AG_FIXED,  1,  0, AG_RR,       INF},
  {32, 1,  0,   1, AG_FIXED,  1,  0, AG_RR,       INF},
  {32, 8,  0,   1, AG_FIXED,  1,  1, AG_BALANCE,  INF},
  {32, 1,  8,   1, AG_AVG,    8,  0, AG_BALANCE,  INF},
  {32, 8,  0,   0, AG_FIXED,  1,  0, AG_LOCALITY, INF},
  {32, 8,  0,   1, AG_FIXED,  1,  0, AG_LOCALITY, INF},
  /* launches */
  {4,  8,  0,   1, AG_FIXED,  1,  0, AG_HARDWARE, 0  },
  {4,  32, 0,   1, AG_FIXED,  1,  0, AG_HARDWARE, 0  },
  {4,  8,  0,   1, AG_FIXED,  1,  0, AG_HARDWARE, 2  },
  {32, 8,  0,   1, AG_FIXED,  1,  0, AG_RR,       2  },
};

void TrsvAgReduced(int i, AgScheme *s) { *s = reduced[i]; }

static void PrintNumber(int n, char text[16])
{
  if (n == AG_INFINITE) (void)snprintf(text, 16, "inf");
  else (void)snprintf(text, 16, "%d", n);
}

void TrsvAgPrint(const AgScheme *s, char *words, size_t size)
{
  char rnnz[16], alpha[16];

  PrintNumber(s->sw_rnnz, rnnz);
  PrintNumber(s->alpha, alpha);
  (void)snprintf(words, size, "nw:%d,ng:%d,sw_rnnz:%s,%s,%s:%d,%s,%s,alpha:%s", s->nw, s->ng, rnnz,
                 s->reorder ? "reorder" : "natural", merges[s->merge], s->size,
                 s->balance ? "rg_balance" : "rg_sequential", schedules[s->ws], alpha);
}

static int IsPowerOfTwo(int n, int least) { return n >= least && n <= 32 && !(n & (n - 1)); }

/* Reads "name:number", AG_INFINITE for inf. */
static int ReadNumber(const char *word, size_t length, const char *name, int *number)
{
  const size_t n = strlen(name);
  char        *end;
  long         v;

  if (length < n + 2 || strncmp(word, name, n) || word[n] != ':') return 0;
  *number = AG_INFINITE;
  if (length == n + 4 && !strncmp(word + n, ":inf", 4)) return 1;
  if (word[n + 1] < '0' || word[n + 1] > '9') return 0;
  v       = strtol(word + n + 1, &end, 10);
  *number = v < 1000 ? (int)v : 1000;
  return end == word + length;
}

static int IsWord(const char *word, size_t length, const char *name)
{
  return strlen(name) == length && !strncmp(word, name, length);
}

static int ReadWord(const char *word, size_t length, AgScheme *s)
{
  int n;

  if (ReadNumber(word, length, "nw", &n)) return s->nw = n, IsPowerOfTwo(n, 2);
  if (ReadNumber(word, length, "ng", &n)) return s->ng = n, IsPowerOfTwo(n, 1);
  if (ReadNumber(word, length, "sw_rnnz", &n)) return s->sw_rnnz = n, n == AG_INFINITE || n == 0 || IsPowerOfTwo(n, 1);
  if (ReadNumber(word, length, "alpha", &n))
    return s->alpha = n, n == AG_INFINITE || n == 0 || (n <= 8 && IsPowerOfTwo(n, 2));
  for (int m = 0; m < 3; m++)
    if (ReadNumber(word, length, merges[m], &n)) return s->merge = (AgMerge)m, s->size = n, IsPowerOfTwo(n, 1);
  for (int w = 0; w < 4; w++)
    if (IsWord(word, length, schedules[w])) return s->ws = (AgSchedule)w, 1;
  if (IsWord(word, length, "reorder") || IsWord(word, length, "natural")) return s->reorder = *word == 'r', 1;
  if (IsWord(word, length, "rg_balance") || IsWord(word, length, "rg_sequential"))
    return s->balance = word[3] == 'b', 1;
  return 0;
}

int TrsvAgParse(const char *words, void *scheme)
{
  AgScheme s = reduced[0];

  for (;; words++) {
    const size_t length = strcspn(words, ",");

    if (!ReadWord(words, length, &s)) return 0;
    words += length;
    if (!*words) break;
  }
  if (scheme) *(AgScheme *)scheme = s;
  return 1;
}
