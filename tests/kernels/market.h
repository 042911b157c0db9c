/*
   market.h: the pattern of a matrix in Matrix Market's coordinate format, plain, gzip'ed or xz'ed.
*/
#ifndef TEST_MARKET_H
#define TEST_MARKET_H

typedef struct {
  int  rows, cols;
  int *offsets, *columns; /* rows sorted, no entry twice; both triangles of a matrix stored by one */
} Pattern;

const char *ReadPattern(const char *file, Pattern *); /* NULL, or what went wrong */
void        FreePattern(Pattern *);

#endif
