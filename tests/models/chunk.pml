/*
   A chunk of `chunk` (src/kernels/solve/chunk/chunk_solve.cu): the warps of a block and what they hand to each
   other.

   A chunk of STAGES stages goes through SLOTS stages of records in shared memory and RING stages of results. The
   copier fills a slot, by a copy that arrives at any later time; RHS warps multiply the right-hand side in and let
   the stage be computed; writers take results out of the ring; importers ready the cells of a batch of imports and
   fill them with what other chunks publish, at any time. Cells are those of one batch, and change hands: batch b has
   them for stages first[b] to last[b]. Barriers are the parity of their phase, which is all that a wait can ask;
   counters hand over what was done before. Within the warp that computes, all is in order; it looks at the cells of
   a stage once during the stage before, where that is ready.

   Checked: every stage is computed from its own records, of its own right-hand side, and from its own imports; x is
   written from its own results; all warps end. Left to the executor: what lanes of a warp hand to each other, stores
   of values that arrive late, clusters.

   Weakenings:
     NO_EMPTY        the copier does not wait until a slot has been used
     NO_EMPTY_RHS    nor does the warp that multiplies the right-hand side in, which cannot tell two turns apart
     NO_READY        the warp that computes does not wait for a stage
     NO_COMPUTED     the writers do not wait for results
     NO_RING         the warp that computes does not wait for the writers
     NO_WRITTEN      the importers do not wait until the cells of a batch have been used
     NO_CELLS_READY  a stage is ready before its cells are
     LATE_CELLS      a batch gets its cells one stage later than the schedule allows: a deadlock
*/
#define STAGES    9
#define SLOTS     3
#define RING      4
#define AHEAD     (RING - 2)
#define RHS_WARPS 2
#define WRITERS   2
#define IMPORTERS 2
#define BATCHES   3

#define NOTHING   255
#define NOT_READY 255

/* Batch 0 is used in stages 0 and 1, 1 in stage 3, 2 in stage 5: each begins behind AFTER, as cells_batches() asks. */
#define BATCH_AT(stage) ((stage) <= 1 -> 0 : ((stage) == 3 -> 1 : ((stage) == 5 -> 2 : NOTHING)))
#define BATCHES_OF(s)   ((s) < 3 -> 1 : ((s) < 5 -> 2 : 3))
#ifdef LATE_CELLS
#define AFTER(b) ((b) == 0 -> 0 : 2 * (b) + 1)
#else
#define AFTER(b) ((b) == 0 -> 0 : 2 * (b))
#endif

byte records[SLOTS] = NOTHING; /* of which stage */
bool has_rhs[SLOTS];
byte copying[SLOTS] = NOTHING; /* of which stage a copy is on its way */
byte results[RING] = NOTHING;
byte cells = NOT_READY;        /* of which batch */
bool arrived[SLOTS], ready[SLOTS], used_up[SLOTS], computed[RING]; /* barriers: parity of the phase */
byte written[WRITERS], cells_ready[IMPORTERS];

#define await(barrier, parity) ((barrier) != (parity))

active proctype copier()
{
  byte stage, slot;
  bool parity = 1;

  do
  :: stage == STAGES -> break
  :: else ->
     if
     :: stage >= SLOTS ->
#ifndef NO_EMPTY
        await(used_up[slot], parity)
#endif
        skip
     :: else
     fi;
     d_step {
       records[slot] = NOTHING;
       has_rhs[slot] = false;
       copying[slot] = stage;
       stage++;
       slot++;
       if
       :: slot == SLOTS -> slot = 0; parity = !parity
       :: else
       fi
     }
  od
}

/* Copies arrive, in any order. */
#define ARRIVE(slot) \
  :: d_step { \
       copying[slot] != NOTHING -> \
       records[slot] = copying[slot]; copying[slot] = NOTHING; arrived[slot] = !arrived[slot] \
     }
active proctype copies()
{
end:
  do
  ARRIVE(0)
  ARRIVE(1)
  ARRIVE(2)
  od
}

proctype rhs(byte me)
{
  byte stage = me, slot, batches;
  bool parity;

  do
  :: stage >= STAGES -> break
  :: else ->
     slot   = stage % SLOTS;
     parity = (stage / SLOTS) & 1;
#ifndef NO_EMPTY_RHS
     await(used_up[slot], !parity);
#endif
     await(arrived[slot], parity);
     assert(records[slot] == stage);
     has_rhs[slot] = true;
#ifndef NO_CELLS_READY
     batches = BATCHES_OF(stage);
     (cells_ready[0] * IMPORTERS >= batches && cells_ready[1] * IMPORTERS + 1 >= batches);
#endif
     d_step { ready[slot] = !ready[slot]; stage = stage + RHS_WARPS }
  od
}

#define look(s) assert(cells == NOT_READY || BATCH_AT(s) == NOTHING || cells == BATCH_AT(s))

active proctype compute()
{
  byte stage, slot;

#ifndef NO_READY
  await(ready[0], 0);
#endif
  do
  :: stage == STAGES -> break
  :: else ->
     slot = stage % SLOTS;
#ifndef NO_RING
     (written[0] + AHEAD >= stage && written[1] + AHEAD >= stage);
#endif
     assert(records[slot] == stage && has_rhs[slot]);
     (BATCH_AT(stage) == NOTHING || cells != NOT_READY);
     look(stage);
     if
     :: stage + 1 < STAGES ->
#ifndef NO_READY
        await(ready[(stage + 1) % SLOTS], ((stage + 1) / SLOTS) & 1);
#endif
        look(stage + 1)
     :: else
     fi;
     results[stage % RING] = stage;
     used_up[slot]           = !used_up[slot];
     d_step { computed[stage % RING] = !computed[stage % RING]; stage++ }
  od
}

proctype writer(byte me)
{
  byte stage = me;

  do
  :: stage >= STAGES -> break
  :: else ->
#ifndef NO_COMPUTED
     await(computed[stage % RING], (stage / RING) & 1);
#endif
     assert(results[stage % RING] == stage);
     d_step { stage = stage + WRITERS; written[me] = stage }
  od
}

proctype importer(byte me)
{
  byte batch = me;

  do
  :: batch >= BATCHES -> break
  :: else ->
#ifndef NO_WRITTEN
     (written[0] >= AFTER(batch) && written[1] >= AFTER(batch));
#endif
     cells = NOT_READY;
     cells_ready[me]++;
     cells = batch; /* published by then */
     batch = batch + IMPORTERS
  od
}

init
{
  atomic {
    written[1] = 1;
    run rhs(0);
    run rhs(1);
    run writer(0);
    run writer(1);
    run importer(0);
    run importer(1)
  }
}
