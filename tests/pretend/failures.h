/*
   failures.h: makes the k-th allocation on the host fail, and counts memory that is not freed.
*/
#ifndef PRETEND_FAILURES_H
#define PRETEND_FAILURES_H

#pragma GCC visibility push(default)
void PretendFailMalloc(long call); /* the malloc() of src/kernels with this number from now on fails; 0: none */
int  PretendMallocFailed(void);    /* has one failed since? */
long PretendMallocLive(void);      /* allocations of src/kernels on the host that are not freed */
#pragma GCC visibility pop

#endif
