/*
   The last failure of each thread, in words; and host memory, whose absence is one.
*/
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "impl.h"

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

  *p = malloc(bytes ? bytes : 1);
  return *p ? TRSV_SUCCESS : TrsvFail(TRSV_ERR_MEMORY, "no memory for %zu bytes on the host", bytes);
}
