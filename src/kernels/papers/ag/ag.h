/*
   ag.h: schemes of the algorithm `ag`, and what is planned on the host from one.

   A scheme is a value: AG-SpTRSV's Table 2. It says how rows are put together to nodes, nodes of one level to tasks of
   a warp, tasks to warps, and levels to launches.
*/
#ifndef TRSV_AG_H
#define TRSV_AG_H

#include "solve/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  AG_FIXED, /* merge_fixed: every rb rows */
  AG_AVG,   /* merge_avg: 32 rows where they have no more than thresh entries in the mean */
  AG_THRESH /* merge_thresh: up to 32 rows that have no more than thresh entries each */
} AgMerge;

typedef enum {
  AG_HARDWARE, /* a warp for each task, started in the order of tasks: Section 5.2's MF and NM */
  AG_RR,       /* the others: as many blocks as multiprocessors, each warp with a list of tasks; ws_rr */
  AG_BALANCE,  /* ws_balance */
  AG_LOCALITY  /* ws_locality */
} AgSchedule;

enum {
  AG_INFINITE = -1,
  AG_WARPS    = 64, /* that a multiprocessor holds: what alpha counts in */
  AG_REDUCED  = 36, /* schemes of the reduced space */
  AG_BUFFER   = 256 /* entries that a warp may read together */
};

typedef struct {
  int        nw;      /* warps of a block: 2, 4, .. 32 */
  int        ng;      /* subwarps of a warp: 1, 2, .. 32 */
  int sw_rnnz; /* entries in the mean of a node's rows above which a subwarp's lanes share a row; AG_INFINITE: never */
  int        reorder; /* rows by level set? */
  AgMerge    merge;
  int        size;    /* rb of merge_fixed, thresh of the others: 1, 2, .. 32 */
  int        balance; /* rg_balance: nodes of a level by entries; else rg_sequential: by their first rows */
  AgSchedule ws;
  int alpha; /* a level of more than alpha times the warps of the device is a launch of its own; AG_INFINITE: none is */
} AgScheme;

int  TrsvAgParse(const char *words,
                 void *scheme); /* whether it is a scheme; what is not named is as in the first of the reduced space */
void TrsvAgPrint(const AgScheme *, char *words, size_t size);          /* as TrsvAgParse takes it */
void TrsvAgReduced(int i, AgScheme *);                                 /* the i-th scheme of the reduced space */

extern const char TrsvAgWords[]; /* what a scheme may be */

/* A launch: tasks [task, task + tasks), or those of the workers, whose lists start at begin. */
typedef struct {
  int task, tasks, begin, workers, wait; /* wait: do rows depend on rows of the same launch? */
} AgLaunch;

/* A plan on the host; places are rows in the order of solution, or by level set. Everything is in memory. */
typedef struct {
  int       rows, off, nodes, tasks, launches, begins, collected;
  int      *order;   /* [rows] the row at a place; its complement where no other depends on it */
  int      *offsets, *columns; /* [rows + 1], [off] entries off the diagonal, as places, rising */
  int      *source;  /* [off + rows] where values, then diagonals, stand in the caller's; diagonals -1 where unit */
  int      *node;    /* [nodes + 1] the first place of each */
  int *task;  /* [tasks * ng] nodes, -1 for none, in the order of launches and in these of workers; AG_COLLECT in the
                 first */
  int *begin; /* [begins] for each launch with lists: where each worker's tasks start, and where the last one's end */
  AgLaunch *launch;  /* [launches] */
} AgPlan;

#define AG_COLLECT 0x40000000 /* the entries of a task are read by all lanes together */

TrsvError TrsvAgPlan(const TrsvMatrix *, const TrsvAnalysis *, const int *source, const AgScheme *, int multiprocessors,
                     AgPlan *); /* all on the host */
void      TrsvAgPlanFree(AgPlan *);

#ifdef __cplusplus
}
#endif
#endif
