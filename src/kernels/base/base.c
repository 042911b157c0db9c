/*
   The message of the last failure of each thread, host memory, a clock, and a comparison of numbers.
*/
#define _POSIX_C_SOURCE 200809L /* CLOCK_MONOTONIC */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/base.h"

static _Thread_local char message[512];

TrsvError TrsvFail(TrsvError error, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return error;
}

const char *TrsvErrorMessage(void) { return message; }

TrsvError TrsvAlloc(size_t bytes, void *pointer)
{
  void **p = pointer;

  *p = calloc(1, bytes ? bytes : 1);
  return *p ? TRSV_SUCCESS : TrsvFail(TRSV_ERR_MEMORY, "no memory for %zu bytes on the host", bytes);
}

double TrsvSeconds(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int TrsvAscending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}
