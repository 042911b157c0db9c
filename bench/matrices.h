/*
   matrices.h: matrices for tests and benchmarks, from Matrix Market files or generated, and their triangles.

     g2d5:N g2d9:N    5- and 9-point grids of N^2      g3d7:N g3d27:N   7- and 27-point grids of N^3
     band:N:K         K neighbors on each side        rand:N:K         K random entries a row on each side
     rmat:S:D         2^S rows, D entries a row        dense:N          full
     arrow:N arrow:N:K last K rows and columns full     diag:N          diagonal
     family:NAME      structures that the real matrices lack: families.c
     FILE             .mtx, .mtx.gz or .mtx.xz in coordinate format
     multicolor:ANY   one of these in multicolor order
*/
#ifndef MATRICES_H
#define MATRICES_H

#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "result_fields.h"
#include "solve/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int     rows, cols;
  int    *offsets, *columns; /* sorted, without duplicates */
  double *values;            /* NULL for a file without values, and for generated matrices */
} Matrix;

typedef struct {
  TrsvMatrix matrix; /* stored diagonal, double */
  int       *offsets, *columns;
  double    *values;
} Triangle;

/* Returns 0, or -1 after a message on standard error if there is no such matrix. */
int  MatrixMake(const char *what, Matrix *);
void MatrixFree(Matrix *);

const char *FamilyName(int k); /* NULL past the last; families.c */

/* The triangle of a square matrix: its pattern with a full diagonal and seeded values, whose diagonal is larger than
   the sum of its row; own: with its own values, -1 if it has none or its diagonal is incomplete. */
int  TriangleMake(const Matrix *, TrsvTriangle, int own, Triangle *);
void TriangleFree(Triangle *);

double RandomUniform(unsigned long long *seed); /* in [0, 1) */

#ifdef __cplusplus
}
#endif
#endif
