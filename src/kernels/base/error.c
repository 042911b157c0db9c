/*
   The message of the last failure of each thread.
*/
#include <stdarg.h>
#include <stdio.h>
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
