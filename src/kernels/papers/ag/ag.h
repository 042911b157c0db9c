/*
   ag.h: schemes of the algorithm `ag`, and the host's plan of a scheme.

   A scheme (AG-SpTRSV, Table 2) determines how rows are merged into nodes, how nodes of one level are merged into tasks
   of a warp, and how tasks are assigned to warps, and levels to launches.
*/
#ifndef TRSV_AG_H
#define TRSV_AG_H

#include "solve/plan/plan.h"

TRSV_C_BEGIN

typedef enum {
  AG_FIXED, /* merge_fixed: every rb rows */
  AG_AVG,   /* merge_avg: 32 rows that have at most thresh entries in the mean */
  AG_THRESH /* merge_thresh: up to 32 rows that have at most thresh entries each */
} AgMerge;

typedef enum {
  AG_HARDWARE, /* a warp for each task, started in the order of tasks: MF and NM of Section 5.2 */
  AG_RR,       /* ws_rr; this and the others: a block for each multiprocessor, each warp with a list of tasks */
  AG_BALANCE,  /* ws_balance */
  AG_LOCALITY  /* ws_locality */
} AgSchedule;

enum {
  AG_INFINITE = -1,
  AG_WARPS    = 64, /* warps of a multiprocessor, the unit of alpha */
  AG_REDUCED  = 36, /* schemes of the reduced space */
  AG_BUFFER   = 256 /* entries that a warp reads together, at most */
};

typedef struct {
  int        nw;      /* warps of a block: 2, 4, .. 32 */
  int        ng;      /* subwarps of a warp: 1, 2, .. 32 */
  int        sw_rnnz; /* mean number of entries of a node's rows above which lanes share a row; AG_INFINITE: never */
  int        reorder; /* rows are sorted by level set */
  AgMerge    merge;
  int        size;    /* rb of merge_fixed, thresh of the others: 1, 2, .. 32 */
  int        balance; /* rg_balance: nodes of a level by entries; else rg_sequential: by first row */
  AgSchedule ws;
  int        alpha; /* a level of more than alpha * the warps of the device is a separate launch; AG_INFINITE: never */
} AgScheme;

/* Reads a scheme; returns 0 if it is invalid. Parameters that are not named are those of the first reduced scheme. */
int  TrsvAgParse(const char *words, void *scheme);
void TrsvAgPrint(const AgScheme *, char *words, size_t size); /* in the form that TrsvAgParse reads */
void TrsvAgReduced(int i, AgScheme *);                        /* scheme i of the reduced space */

extern const char TrsvAgWords[]; /* describes valid schemes, for messages */

/* A launch: tasks [task, task + tasks), or the lists of the workers, whose starts are from index begin on. */
typedef struct {
  int task, tasks, begin, workers, wait; /* wait: rows depend on rows of the same launch */
} AgLaunch;

/* The host's plan. A place is the number of a row in the order of solution, or in the order of level sets. */
typedef struct {
  int       rows, off, nodes, tasks, launches, begins, collected;
  int      *order;             /* [rows] the row in each place; its complement if no row depends on it */
  int      *offsets, *columns; /* [rows + 1], [off] off-diagonal entries, as rising places */
  int      *source; /* [off + rows] the index of each entry, then of each diagonal, in the caller's values; -1: unit */
  int      *node;   /* [nodes + 1] the first place of each node */
  int      *task;   /* [tasks * ng] nodes, -1: none, by launch and worker; AG_COLLECT in the first */
  int      *begin;  /* [begins] for each launch with lists: the first task of each worker, and the end of the last */
  AgLaunch *launch; /* [launches] */
} AgPlan;

#define AG_COLLECT 0x40000000 /* all lanes read the entries of the task together */

TrsvError TrsvAgPlan(const TrsvMatrix *, const TrsvAnalysis *, const int *source, const AgScheme *, int multiprocessors,
                     AgPlan *); /* all on the host */
void      TrsvAgPlanFree(AgPlan *);

TRSV_C_END
#endif
