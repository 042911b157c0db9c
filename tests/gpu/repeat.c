/*
   Repeats one operation, with its result in poisoned memory, and compares the bits with the expected ones, or else
   with those of the first time. Over the SIMT executor each time has another schedule. Makes the matrices.
*/
#include <stdlib.h>
#include <string.h>
#include "repeat.h"
#ifdef TRSV_SIMT
  #include "executor.h"
#endif

TrsvPrecision precision = TRSV_DOUBLE;
int           times     = 1000;
int           wrong;
FILE         *json;

void *CheckMemory(void *p)
{
  if (p) return p;
  fprintf(stderr, "no memory\n");
  exit(2);
}

void CheckError(TrsvError e)
{
  if (!e) return;
  fprintf(stderr, "%s\n", TrsvErrorMessage());
  exit(2);
}

void *Upload(const void *from, size_t bytes)
{
  void *p;

  CheckError(TrsvDeviceAlloc(bytes, &p));
  CheckError(TrsvDeviceUpload(p, from, bytes, NULL));
  return p;
}

void *UploadNumbers(const double *from, size_t n)
{
  void  *p;
  float *narrow;

  if (precision == TRSV_DOUBLE) return Upload(from, sizeof(double) * n);
  narrow = CheckMemory(malloc(sizeof(float) * (n + 1)));
  for (size_t i = 0; i < n; i++) narrow[i] = (float)from[i];
  p = Upload(narrow, sizeof(float) * n);
  free(narrow);
  return p;
}

static int Compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* seconds: the median */
static void ReportRepeat(const Repeat *r, int done, int differs, double seconds, TrsvError error)
{
  const int bad = (differs && !r->vary) || (error && error != TRSV_ERR_UNSUPPORTED);

  wrong += bad;
  printf("%-20s %-6s %-90s %5d times, %8.3f ms: ", r->matrix, precision == TRSV_FLOAT ? "float" : "double", r->what,
         done, 1e3 * seconds);
  if (error) printf("%s%s\n", error == TRSV_ERR_UNSUPPORTED ? "refused: " : "FAILED: ", TrsvErrorMessage());
  else if (differs) printf("%s at the %d. time\n", r->vary ? "bits vary, as they may," : "BITS DIFFER", differs);
  else printf("the same bits\n");
  fflush(stdout);
  if (json) {
    fprintf(json,
            "{\"matrix\": \"%s\", \"precision\": \"%s\", \"what\": \"%s\", \"times\": %d, \"ms\": %.4g, \"same_bits\": "
            "%s, \"may_vary\": %s, \"refused\": %s, \"ok\": %s",
            r->matrix, precision == TRSV_FLOAT ? "float" : "double", r->what, done, 1e3 * seconds,
            error     ? "null"
            : differs ? "false"
                      : "true",
            r->vary ? "true" : "false", error == TRSV_ERR_UNSUPPORTED ? "true" : "false", bad ? "false" : "true");
    EndResult(json);
    fflush(json); /* complete lines, even if the program is killed */
  }
}

void RunRepeat(const Repeat *r)
{
  const size_t bytes = r->result[0].bytes + r->result[1].bytes;
  char        *first = CheckMemory(malloc(bytes + 1)), *now = CheckMemory(malloc(bytes + 1)),
       *poison      = CheckMemory(malloc(r->result[0].bytes + 1));
  TrsvError error   = TRSV_SUCCESS;
  double   *seconds = CheckMemory(malloc(sizeof(double) * (size_t)r->times));
  int       n, differs = 0;

  memset(poison, 0xee, r->result[0].bytes + 1);
  for (n = 0; n < r->times && !differs && !error; n++) {
    double start;

#ifdef TRSV_SIMT
    SimtSchedule((unsigned)n);
#endif
    if (r->poisoned) CheckError(TrsvDeviceUpload((void *)r->result[0].device, poison, r->result[0].bytes, NULL));
    CheckError(TrsvDeviceWait(NULL));
    start = TrsvSeconds();
    error = r->once(r->data);
    if (!error) error = TrsvDeviceWait(NULL);
    seconds[n] = TrsvSeconds() - start;
    if (!error) error = TrsvDeviceDownload(now, r->result[0].device, r->result[0].bytes, NULL);
    if (!error && r->result[1].bytes)
      error = TrsvDeviceDownload(now + r->result[0].bytes, r->result[1].device, r->result[1].bytes, NULL);
    if (!n) {
      memcpy(first, now, bytes);
      if (r->expected) memcpy(first, r->expected, r->result[0].bytes);
    }
    if (!error && memcmp(first, now, bytes)) differs = n + 1;
  }
  qsort(seconds, (size_t)n, sizeof(*seconds), Compare);
  ReportRepeat(r, n, differs, seconds[n / 2], error);
  free(seconds);
  free(first);
  free(now);
  free(poison);
}

void ReportRefused(const char *matrix, const char *what, TrsvError error)
{
  Repeat r = {.matrix = matrix};

  (void)snprintf(r.what, sizeof(r.what), "%s", what);
  ReportRepeat(&r, 0, 0, 0, error);
}

Square MakeSquare(const char *name, const Matrix *M)
{
  Square             A    = {.name = name, .rows = M->rows};
  unsigned long long seed = 5;
  double            *weak;

  A.offsets = CheckMemory(malloc(sizeof(int) * ((size_t)M->rows + 1)));
  A.columns = CheckMemory(malloc(sizeof(int) * ((size_t)M->offsets[M->rows] + (size_t)M->rows + 1)));
  A.values  = CheckMemory(malloc(sizeof(double) * ((size_t)M->offsets[M->rows] + (size_t)M->rows + 1)));
  weak      = CheckMemory(malloc(sizeof(double) * ((size_t)M->offsets[M->rows] + (size_t)M->rows + 1)));
  for (int i = 0; i < M->rows; i++) {
    const int begin = M->offsets[i], end = M->offsets[i + 1];
    int       there = 0;

    A.offsets[i] = A.nnz;
    for (int k = begin; k <= end; k++) {
      if (!there && (k == end || M->columns[k] >= i)) {
        A.columns[A.nnz]  = i;
        weak[A.nnz]       = i % 7 ? 2 : 0;
        A.values[A.nnz++] = 2 + RandomUniform(&seed);
        there             = 1;
      }
      if (k < end && M->columns[k] != i) {
        A.columns[A.nnz] = M->columns[k];
        weak[A.nnz] = A.values[A.nnz] = (2 * RandomUniform(&seed) - 1) / (end - begin);
        A.nnz++;
      }
    }
  }
  A.offsets[M->rows] = A.nnz;
  A.device_offsets   = Upload(A.offsets, sizeof(int) * ((size_t)A.rows + 1));
  A.device_columns   = Upload(A.columns, sizeof(int) * (size_t)A.nnz);
  A.device_values    = UploadNumbers(A.values, (size_t)A.nnz);
  A.device_weak      = UploadNumbers(weak, (size_t)A.nnz);
  free(weak);
  return A;
}

void FreeSquare(Square *A)
{
  free(A->offsets);
  free(A->columns);
  free(A->values);
  TrsvDeviceFree(A->device_offsets);
  TrsvDeviceFree(A->device_columns);
  TrsvDeviceFree(A->device_values);
  TrsvDeviceFree(A->device_weak);
}
