/*
   Arguments and results of the programs of long runs.
*/
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "long.h"
#include "matrices.h"

const char *WordArgument(int count, char **args, const char *name)
{
  for (int i = 1; i + 1 < count; i++)
    if (args[i][0] == '-' && !strcmp(args[i] + 1, name)) return args[i + 1];
  return NULL;
}

double NumberArgument(int count, char **args, const char *name, double otherwise)
{
  const char *word = WordArgument(count, args, name);

  return word ? atof(word) : otherwise;
}

void WriteResult(int count, char **args, const char *fields, ...)
{
  const char *name = WordArgument(count, args, "o");
  FILE       *f = name ? fopen(name, "a") : NULL;
  va_list     a;

  if (!f) return;
  va_start(a, fields);
  (void)fputc('{', f);
  (void)vfprintf(f, fields, a);
  EndResult(f);
  (void)fclose(f);
  va_end(a);
}

size_t HostBytes(void)
{
  FILE *f = fopen("/proc/self/statm", "r");
  long  all, resident = 0;

  if (!f) return 0;
  if (fscanf(f, "%ld %ld", &all, &resident) != 2) resident = 0;
  (void)fclose(f);
  return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}
