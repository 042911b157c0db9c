/*
   Halves of the words and early launches (src/kernels/device/sync.cuh, threads.cuh).

   A stream of LAUNCHES launches: solves of one plan, and one that sets its values. A solve has a block for each of
   two rows, of which the second waits for the first; its right-hand side is the solution of the solve before.
   Results are published in one half of the words, and the other half is readied for the next solve; the ticket
   counter says which is which. An early launch starts once all blocks of the one before have let it or have ended,
   before what that one has stored is seen, and waits for that one; the solve right behind new values is not early
   (plan->fresh). Stores of a launch become visible at any time in any order, at the latest when the launch is over.

   Checked: every solve has the values that were set last, the right-hand side of its own, and results of its own;
   all end.

   Weakenings:
     NO_WAIT       a solve does not wait for the launch before
     LET_FIRST     a block lets the next launch start before it has its ticket
     NO_READYING   the other half is not readied
     READY_FIRST   it is readied before the wait
     ALWAYS_EARLY  the solve right behind new values is early too
*/
#ifndef LAUNCHES
#define LAUNCHES 5
#endif
#define SET       1  /* the launch that sets values */
#define NOT_READY 0

byte word[4];              /* [2 halves][2 rows]: 1 + the solve that has published it */
byte x[2], values;         /* of which launch, + 1 */
byte ticket;
byte let[LAUNCHES], ended[LAUNCHES];
bool over[LAUNCHES];

/* stores on their way, one a row: the launch that made them + 1 */
byte coming_x[2], coming_word[2], coming_values, readied[2];
bool half_of_word[2], half_of_readied[2];

#define may_start(n, early) ((n) == 0 || over[(n) - 1] || ((early) && let[(n) - 1] == 2))

#define SHOW(r) \
  :: d_step { coming_x[r] -> x[r] = coming_x[r]; coming_x[r] = 0 } \
  :: d_step { coming_word[r] -> word[2 * half_of_word[r] + r] = coming_word[r]; coming_word[r] = 0 } \
  :: d_step { readied[r] -> word[2 * half_of_readied[r] + r] = NOT_READY; readied[r] = 0 }

active proctype memory()
{
  byte n;

end:
  do
  SHOW(0)
  SHOW(1)
  :: d_step { coming_values -> values = coming_values; coming_values = 0 }
  :: d_step {
       n < LAUNCHES && ended[n] == 2 && coming_x[0] != n + 1 && coming_x[1] != n + 1 && coming_word[0] != n + 1 &&
       coming_word[1] != n + 1 && readied[0] != n + 1 && readied[1] != n + 1 && coming_values != n + 1 ->
       over[n] = true;
       n++
     }
  od
}

proctype set(byte n)
{
  (may_start(n, false));
  coming_values = n + 1;
  d_step { let[n] = 2; ended[n] = 2 }
}

proctype solve(byte n)
{
  byte t, row, of_values = (n > SET -> SET + 1 : 0), before = (n == SET + 1 -> SET : n);
#ifdef ALWAYS_EARLY
  bool early = n > 0;
#else
  bool early = n > 0 && n != SET + 1;
#endif
  bool half;

  (may_start(n, early));
#ifdef LET_FIRST
  let[n]++;
#endif
  d_step {
    t      = ticket;
    ticket = (ticket + 1) % 4;
    half   = t >= 2;
    row    = t % 2
  }
  assert(values == of_values);
#ifdef READY_FIRST
  d_step { readied[row] = n + 1; half_of_readied[row] = !half }
#endif
#ifndef NO_WAIT
  (n == 0 || over[n - 1]);
#endif
#ifndef LET_FIRST
  let[n]++;
#endif
#ifndef NO_READYING
#ifndef READY_FIRST
  d_step { readied[row] = n + 1; half_of_readied[row] = !half }
#endif
#endif
  assert(x[row] == before);
  if
  :: row == 1 ->
     (word[2 * half] != NOT_READY);
     assert(word[2 * half] == n + 1)
  :: else
  fi;
  d_step { coming_word[row] = n + 1; half_of_word[row] = half }
  coming_x[row] = n + 1;
  ended[n]++
}

init
{
  byte n;

  atomic {
    for (n : 0 .. LAUNCHES - 1) {
      if
      :: n == SET -> run set(n)
      :: else -> run solve(n); run solve(n)
      fi
    }
  }
}
