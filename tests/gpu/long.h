/*
   long.h: arguments and results of the programs of long runs.
*/
#ifndef GPU_LONG_H
#define GPU_LONG_H

#include <stdio.h>
#include "subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of the argument -name, or a default. */
double      NumberArgument(int count, char **args, const char *name, double otherwise);
const char *WordArgument(int count, char **args, const char *name);

/* Appends a line of JSON to the file that -o names, if any: the fields, as for printf, and those of RESULT_FIELDS in
   the environment (the GPU, its driver, the sources). */
void WriteResult(int count, char **args, const char *fields, ...) __attribute__((format(printf, 3, 4)));

size_t HostBytes(void); /* resident memory of the process; 0 if unknown */

#ifdef __cplusplus
}
#endif
#endif
