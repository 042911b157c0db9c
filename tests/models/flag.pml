/*
   A value as its own flag, with tickets (src/kernels/device/sync.cuh; `thread` and all that is made like it).

   4 rows, of which each may depend on any before it: every pattern is tried. WORKERS blocks are resident at a time,
   a row each; blocks start in any order. A block takes a ticket, waits for what its row depends on, and publishes. A
   store is on its way until the process `memory` makes it visible, in any order with others: stores are relaxed.

   Checked: nobody takes a value that is not there yet; all rows end.

   Weakenings:
     STATIC    block numbers instead of tickets: a deadlock
     SEPARATE  value and flag in two words, both relaxed: a value is taken too early
     PARTIAL   a partial sum is published first, and taken
     RAW       a result that has the bits of NOT_READY is stored as it is: a deadlock
*/
#ifndef WORKERS
#define WORKERS 3
#endif
#define ROWS 4
#define ANY_ROW(option) option(0) option(1) option(2) option(3)

#define NOT_READY 0
#define RIGHT     1
#define PART      2

bool depends[ROWS * ROWS], raw[ROWS], unstarted[ROWS];
byte word[ROWS], flag[ROWS];           /* in memory */
byte coming[ROWS], later[ROWS];        /* stores to word on their way: the first, and the one behind it */
bool flag_coming[ROWS];
byte tickets, done;
bool begun;

inline store(row, value)
{
  if
  :: coming[row] == NOT_READY -> coming[row] = value
  :: else -> later[row] = value
  fi
}

inline await(row)
{
#ifdef SEPARATE
  (flag[row] != 0);
  assert(word[row] == RIGHT)
#else
  (word[row] != NOT_READY);
  assert(word[row] == RIGHT)
#endif
}

active [WORKERS] proctype block()
{
  byte row, on;

  (begun);
  do
  :: atomic {
       if
       :: tickets == ROWS -> break
       :: else ->
#ifdef STATIC
#define START(r) :: unstarted[r] -> row = r
          if
          ANY_ROW(START)
          fi;
          unstarted[row] = false;
#else
          row = tickets;
#endif
          tickets++
       fi
     }
     on = 0;
     do
     :: on == row -> break
     :: else ->
        if
        :: depends[row * ROWS + on] -> await(on)
        :: else
        fi;
        on++
     od;
#ifdef PARTIAL
     store(row, PART);
#endif
     atomic {
       if
#ifdef RAW
       :: raw[row]
#endif
       :: else -> store(row, RIGHT)
       fi;
#ifdef SEPARATE
       flag_coming[row] = true;
#endif
       done++
     }
  od
}

active proctype memory()
{
  byte row;

  (begun);
#define SHOW(r) \
  :: atomic { coming[r] != NOT_READY -> word[r] = coming[r]; coming[r] = later[r]; later[r] = NOT_READY } \
  :: atomic { flag_coming[r] -> flag[r] = 1; flag_coming[r] = false }
end:
  do
  ANY_ROW(SHOW)
  od
}

init
{
  byte row, on;

  for (row : 0 .. ROWS - 1) {
    unstarted[row] = true;
#ifdef RAW
    if
    :: raw[row] = true
    :: raw[row] = false
    fi;
#endif
    for (on : 0 .. ROWS - 1) {
      if
      :: on < row ->
         if
         :: depends[row * ROWS + on] = true
         :: depends[row * ROWS + on] = false
         fi
      :: else
      fi
    }
  }
  begun = true;
  (done == ROWS)
}
