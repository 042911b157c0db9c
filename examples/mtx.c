/*
   mtx.c: see mtx.h.

   A file is read once, line by line, into triples (row, column, value) of this rank's rows; symmetric files are
   expanded. A counting sort by rows, a sort inside each row and a sum of equal places make the rows of the matrix. Memory is
   O(entries).
*/
#include "mtx.h"
#include <petscbt.h>
#include <ctype.h>
#include <errno.h>
#include <lzma.h>
#include <math.h>
#include <zlib.h>

/* - - - lines of a plain or compressed file - - - */

#define BUFFER  (1 << 18)
#define MAXLINE 1024

typedef struct {
  const char  *name;
  gzFile       gz; /* plain and gzip'ed files */
  FILE        *xz; /* xz'ed ones */
  lzma_stream  lzma;
  lzma_action  action;
  char        *text, *packed;
  size_t       at, end; /* what of text is still to be read */
  PetscCount   line;    /* number of the line read last */
} Reader;

static PetscErrorCode ReaderOpen(const char name[], Reader *r)
{
  FILE         *f;
  unsigned char magic[6] = {0};
  size_t        n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->name = name;
  f       = fopen(name, "rb");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: %s", name, strerror(errno));
  n = fread(magic, 1, sizeof(magic), f);
  if (n == sizeof(magic) && !memcmp(magic, "\3757zXZ", 6)) {
    rewind(f);
    r->xz     = f;
    r->lzma   = (lzma_stream)LZMA_STREAM_INIT;
    r->action = LZMA_RUN;
    PetscCheck(lzma_stream_decoder(&r->lzma, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "liblzma cannot start decoding");
    PetscCall(PetscMalloc1(BUFFER, &r->packed));
  } else {
    fclose(f);
    r->gz = gzopen(name, "rb");
    PetscCheck(r->gz, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: %s", name, strerror(errno));
    gzbuffer(r->gz, BUFFER);
  }
  PetscCall(PetscMalloc1(BUFFER, &r->text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReaderClose(Reader *r)
{
  PetscFunctionBegin;
  if (r->gz) gzclose(r->gz);
  if (r->xz) {
    lzma_end(&r->lzma);
    fclose(r->xz);
  }
  PetscCall(PetscFree(r->packed));
  PetscCall(PetscFree(r->text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refills the text; end = 0 at the end of the file */
static PetscErrorCode ReaderFill(Reader *r)
{
  PetscFunctionBegin;
  r->at = r->end = 0;
  if (r->gz) {
    int         n = gzread(r->gz, r->text, BUFFER), error;
    const char *message;

    message = gzerror(r->gz, &error);
    PetscCheck(n >= 0 && (error == Z_OK || error == Z_STREAM_END), PETSC_COMM_SELF, PETSC_ERR_FILE_READ,
               "%s, after line %" PetscCount_FMT ": %s", r->name, r->line,
               error == Z_BUF_ERROR ? "the compressed file ends early" : message);
    r->end = (size_t)n;
  } else {
    lzma_ret ret = LZMA_OK;

    r->lzma.next_out  = (uint8_t *)r->text;
    r->lzma.avail_out = BUFFER;
    while (r->lzma.avail_out == BUFFER && ret == LZMA_OK) {
      if (!r->lzma.avail_in && r->action == LZMA_RUN) {
        r->lzma.next_in  = (uint8_t *)r->packed;
        r->lzma.avail_in = fread(r->packed, 1, BUFFER, r->xz);
        if (!r->lzma.avail_in) r->action = LZMA_FINISH;
      }
      ret = lzma_code(&r->lzma, r->action);
    }
    PetscCheck(ret == LZMA_OK || ret == LZMA_STREAM_END, PETSC_COMM_SELF, PETSC_ERR_FILE_READ,
               "%s, after line %" PetscCount_FMT ": %s", r->name, r->line,
               ret == LZMA_BUF_ERROR ? "the compressed file ends early" : "the compressed file is corrupt");
    r->end = BUFFER - r->lzma.avail_out;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a line without its end; length -1 at the end of the file. Of a comment, what exceeds MAXLINE is dropped. */
static PetscErrorCode ReaderLine(Reader *r, char line[MAXLINE], int *length)
{
  int       n = 0;
  PetscBool any = PETSC_FALSE, done = PETSC_FALSE;

  PetscFunctionBegin;
  while (!done) {
    char  *from, *newline;
    size_t run, keep;

    if (r->at == r->end) {
      PetscCall(ReaderFill(r));
      if (!r->end) break;
    }
    any     = PETSC_TRUE;
    from    = r->text + r->at;
    newline = (char *)memchr(from, '\n', r->end - r->at);
    done    = newline ? PETSC_TRUE : PETSC_FALSE;
    run     = newline ? (size_t)(newline - from) : r->end - r->at;
    keep    = PetscMin(run, (size_t)(MAXLINE - 1 - n));
    memcpy(line + n, from, keep);
    n += (int)keep;
    r->at += run + (newline ? 1 : 0);
  }
  if (n && line[n - 1] == '\r') n--;
  line[n] = 0;
  *length = any ? n : -1;
  if (any) r->line++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* - - - fields of a line - - - */

#define CheckLine(cond, r, ...) \
  PetscCheck(cond, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscCount_FMT ": %s", (r)->name, (r)->line, \
             FormatMessage(__VA_ARGS__))

static const char *FormatMessage(const char *format, ...) PETSC_ATTRIBUTE_FORMAT(1, 2);
static const char *FormatMessage(const char *format, ...)
{
  static char message[256];
  va_list     ap;

  va_start(ap, format);
  vsnprintf(message, sizeof(message), format, ap);
  va_end(ap);
  return message;
}

/* Takes one whole number >= 0 from *s; false where there is none, or one above PETSC_INT_MAX */
static inline PetscBool TakeIndex(char **s, PetscInt *value)
{
  char   *p = *s;
  int64_t v = 0;

  while (*p == ' ' || *p == '\t') p++;
  if (!isdigit((unsigned char)*p)) return PETSC_FALSE;
  for (; isdigit((unsigned char)*p); p++) {
    v = 10 * v + (*p - '0');
    if (v > PETSC_INT_MAX) return PETSC_FALSE;
  }
  *s     = p;
  *value = (PetscInt)v;
  return PETSC_TRUE;
}

static inline PetscBool TakeReal(char **s, double *value)
{
  char *p;

  *value = strtod(*s, &p);
  if (p == *s) return PETSC_FALSE;
  *s = p;
  return PETSC_TRUE;
}

static inline PetscBool AtEnd(const char *s)
{
  while (isspace((unsigned char)*s)) s++;
  return *s ? PETSC_FALSE : PETSC_TRUE;
}

/* The first line: field and symmetry, or why this cannot be read */
static PetscErrorCode ReadHeader(Reader *r, MtxReport *report)
{
  static const char *fields[]     = {"real", "integer", "pattern"};
  static const char *symmetries[] = {"general", "symmetric", "skew-symmetric"};
  char               line[MAXLINE], word[5][32];
  int                n;

  PetscFunctionBegin;
  PetscCall(ReaderLine(r, line, &n));
  r->line = 1;
  CheckLine(n >= 0, r, "the file is empty");
  for (char *p = line; *p; p++) *p = (char)tolower((unsigned char)*p);
  CheckLine(!strncmp(line, "%%matrixmarket", 14), r, "no Matrix Market file: it does not begin with %%%%MatrixMarket");
  CheckLine(sscanf(line, "%31s %31s %31s %31s %31s", word[0], word[1], word[2], word[3], word[4]) == 5, r,
            "the header has fewer than five words");
  CheckLine(!strcmp(word[1], "matrix"), r, "the object is %s; only a matrix can be read", word[1]);
  CheckLine(!strcmp(word[2], "coordinate"), r, "the format is %s; only coordinate, that is sparse, can be read",
            word[2]);
  for (int i = 0; i < 3; i++) {
    if (!strcmp(word[3], fields[i])) report->field = fields[i];
    if (!strcmp(word[4], symmetries[i])) report->symmetry = symmetries[i];
  }
  CheckLine(report->field, r, "the field is %s; only real, integer and pattern can be read", word[3]);
  CheckLine(report->symmetry, r, "the symmetry is %s; only general, symmetric and skew-symmetric can be read", word[4]);
  CheckLine(report->field != fields[2] || report->symmetry != symmetries[2], r, "a pattern cannot be skew-symmetric");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line of sizes, after comments */
static PetscErrorCode ReadSizes(Reader *r, MtxReport *report)
{
  char line[MAXLINE], *p = line;
  int  n;

  PetscFunctionBegin;
  do {
    PetscCall(ReaderLine(r, line, &n));
    CheckLine(n >= 0, r, "the file ends before the line of sizes");
  } while (line[0] == '%' || AtEnd(line));
  CheckLine(TakeIndex(&p, &report->rows) && TakeIndex(&p, &report->cols) && TakeIndex(&p, &report->stored) && AtEnd(p),
            r, "rows, columns and entries expected, each a whole number to %" PetscInt_FMT, PETSC_INT_MAX);
  CheckLine(report->symmetry[0] == 'g' || report->rows == report->cols, r,
            "a %s matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", report->symmetry, report->rows,
            report->cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* - - - triples, and the matrix made of them - - - */

typedef struct {
  PetscInt     first, last; /* rows of this rank */
  PetscCount   n, room;
  PetscInt    *row, *col;
  PetscScalar *value;
} Triples;

static inline PetscErrorCode TriplesAdd(Triples *t, PetscInt i, PetscInt j, PetscScalar v)
{
  PetscFunctionBegin;
  if (i < t->first || i >= t->last) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->n == t->room) {
    t->room = PetscMax(1024, t->room + t->room / 2);
    PetscCall(PetscRealloc(sizeof(PetscInt) * t->room, &t->row));
    PetscCall(PetscRealloc(sizeof(PetscInt) * t->room, &t->col));
    PetscCall(PetscRealloc(sizeof(PetscScalar) * t->room, &t->value));
  }
  t->row[t->n]     = i;
  t->col[t->n]     = j;
  t->value[t->n++] = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadEntries(Reader *r, MtxReport *report, Triples *t)
{
  const PetscBool pattern = report->field[0] == 'p', integer = report->field[0] == 'i';
  const PetscBool general = report->symmetry[0] == 'g', skew = !strcmp(report->symmetry, "skew-symmetric");
  char            line[MAXLINE];
  int             n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < report->stored;) {
    char    *p = line;
    PetscInt i, j;
    double   v = 1;

    PetscCall(ReaderLine(r, line, &n));
    CheckLine(n >= 0, r, "the file ends after %" PetscInt_FMT " of %" PetscInt_FMT " entries", k, report->stored);
    if (AtEnd(line)) continue;
    CheckLine(TakeIndex(&p, &i) && TakeIndex(&p, &j) && (pattern || TakeReal(&p, &v)) && AtEnd(p), r,
              pattern ? "row and column expected" : "row, column and value expected");
    CheckLine(i >= 1 && i <= report->rows && j >= 1 && j <= report->cols, r,
              "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is outside the matrix of %" PetscInt_FMT
              " rows and %" PetscInt_FMT " columns",
              i, j, report->rows, report->cols);
    CheckLine(!integer || v == floor(v), r, "not a whole number, in a file of integers");
    CheckLine(!skew || i != j, r,
              "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is on the diagonal of a skew-symmetric matrix", i, j);
    if (!isfinite(v)) report->notfinite++;
    if (!general && j > i) report->above++;
    PetscCall(TriplesAdd(t, i - 1, j - 1, v));
    if (!general && i != j) PetscCall(TriplesAdd(t, j - 1, i - 1, skew ? -v : v));
    k++;
  }
  do {
    PetscCall(ReaderLine(r, line, &n));
    CheckLine(n < 0 || AtEnd(line), r, "more than the %" PetscInt_FMT " entries that the header promises",
              report->stored);
  } while (n >= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A value in [-1, 1) that depends on the place alone (the mixing of splitmix64) */
static double PlaceValue(PetscInt i, PetscInt j)
{
  uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)j + 1;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1;
}

/* Sorts the triples by row and column; row i's are start[i] to start[i + 1]. Drops their row. */
static PetscErrorCode TriplesToRows(Triples *t, PetscCount **start)
{
  const PetscInt m = t->last - t->first;
  PetscInt      *col;
  PetscScalar   *value;
  PetscCount    *s;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)m + 2, &s));
  PetscCall(PetscMalloc1(t->n, &col));
  PetscCall(PetscMalloc1(t->n, &value));
  for (PetscCount k = 0; k < t->n; k++) s[t->row[k] - t->first + 2]++;
  for (PetscInt i = 1; i <= m; i++) s[i + 1] += s[i];
  for (PetscCount k = 0; k < t->n; k++) {
    PetscCount at = s[t->row[k] - t->first + 1]++;

    col[at]   = t->col[k];
    value[at] = t->value[k];
  }
  PetscCall(PetscFree(t->row));
  PetscCall(PetscFree(t->col));
  PetscCall(PetscFree(t->value));
  t->col   = col;
  t->value = value;
  for (PetscInt i = 0; i < m; i++)
    PetscCall(PetscSortIntWithScalarArray((PetscInt)(s[i + 1] - s[i]), col + s[i], value + s[i]));
  *start = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the rows without an entry on the diagonal, and gives them one, a zero, if asked to */
static PetscErrorCode TriplesDiagonal(Triples *t, PetscBool complete, MtxReport *report)
{
  const PetscInt last = PetscMin(t->last, report->cols);
  PetscBT        has;

  PetscFunctionBegin;
  PetscCall(PetscBTCreate(t->last - t->first, &has));
  for (PetscCount k = 0; k < t->n; k++)
    if (t->row[k] == t->col[k]) PetscCall(PetscBTSet(has, t->row[k] - t->first));
  for (PetscInt i = t->first; i < last; i++) {
    if (PetscBTLookup(has, i - t->first)) continue;
    if (!report->missing++) report->firstmissing = i;
    if (complete) PetscCall(TriplesAdd(t, i, i, 0));
  }
  PetscCall(PetscBTDestroy(&has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums entries of the same place; *offsets are those of the rows that remain */
static PetscErrorCode RowsSum(Triples *t, const PetscCount *start, MtxReport *report, PetscInt **offsets)
{
  const PetscInt  m       = t->last - t->first;
  const PetscBool general = report->symmetry[0] == 'g' ? PETSC_TRUE : PETSC_FALSE;
  PetscInt        n       = 0;

  PetscFunctionBegin;
  PetscCheck(t->n <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%" PetscCount_FMT " entries are more than a PetscInt counts", t->n);
  PetscCall(PetscMalloc1((size_t)m + 1, offsets));
  (*offsets)[0] = 0;
  for (PetscInt i = 0; i < m; i++) {
    for (PetscCount k = start[i]; k < start[i + 1]; k++) {
      if (n > (*offsets)[i] && t->col[n - 1] == t->col[k]) {
        t->value[n - 1] += t->value[k];
        if (general || t->col[k] <= t->first + i) report->duplicates++; /* once, although it is expanded */
      } else {
        t->col[n]     = t->col[k];
        t->value[n++] = t->value[k];
      }
    }
    (*offsets)[i + 1] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the values by MTX_VALUES_DOMINANT */
static void RowsGenerate(Triples *t, const PetscInt *offsets, PetscBool symmetric)
{
  for (PetscInt row = t->first; row < t->last; row++) {
    PetscScalar *diagonal = NULL;
    PetscReal    sum      = 1;

    for (PetscInt k = offsets[row - t->first]; k < offsets[row - t->first + 1]; k++) {
      const PetscInt j = t->col[k];

      t->value[k] = symmetric ? PlaceValue(PetscMin(row, j), PetscMax(row, j)) : PlaceValue(row, j);
      if (j == row) diagonal = &t->value[k];
      else sum += PetscAbsScalar(t->value[k]);
    }
    if (diagonal) *diagonal = sum;
  }
}

/* Finds whether the diagonal is positive, all rows are diagonally dominant, and one is strictly so; not with NaN */
static void RowsJudge(const Triples *t, const PetscInt *offsets, PetscBool *positive, PetscBool *dominant,
                      PetscBool *strict)
{
  *positive = *dominant = PETSC_TRUE;
  *strict               = PETSC_FALSE;
  for (PetscInt row = t->first; row < t->last && *positive; row++) {
    PetscReal diagonal = 0, others = 0;

    for (PetscInt k = offsets[row - t->first]; k < offsets[row - t->first + 1]; k++) {
      if (t->col[k] == row) diagonal = PetscRealPart(t->value[k]);
      else others += PetscAbsScalar(t->value[k]);
    }
    if (!(diagonal > 0)) *positive = PETSC_FALSE;
    if (!(diagonal >= others * (1 - 1e-12))) *dominant = PETSC_FALSE;
    if (diagonal > others) *strict = PETSC_TRUE;
  }
}

PetscErrorCode MtxTest(const char file[], PetscBool *is)
{
  Reader r;
  char   line[MAXLINE];
  int    n;

  PetscFunctionBegin;
  PetscCall(ReaderOpen(file, &r));
  PetscCall(ReaderLine(&r, line, &n));
  PetscCall(ReaderClose(&r));
  PetscCall(PetscStrncmp(line, "%%", 2, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hands the rows to the matrix */
static PetscErrorCode RowsToMat(const Triples *t, const PetscInt *offsets, Mat A)
{
  const PetscInt m = t->last - t->first;
  PetscInt      *dnz, *onz, c0, c1;

  PetscFunctionBegin;
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRangeColumn(A, &c0, &c1));
  PetscCall(PetscCalloc2(m, &dnz, m, &onz));
  for (PetscInt i = 0; i < m; i++)
    for (PetscInt k = offsets[i]; k < offsets[i + 1]; k++) (*(t->col[k] >= c0 && t->col[k] < c1 ? &dnz[i] : &onz[i]))++;
  PetscCall(MatSeqAIJSetPreallocation(A, 0, dnz));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, dnz, 0, onz));
  PetscCall(PetscFree2(dnz, onz));
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  for (PetscInt i = 0; i < m; i++) {
    PetscInt row = t->first + i;

    PetscCall(MatSetValues(A, 1, &row, offsets[i + 1] - offsets[i], t->col + offsets[i], t->value + offsets[i],
                           INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MtxLoad(Mat A, const char file[], MtxValues kind, PetscBool complete, MtxReport *report)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  Reader      r;
  Triples     t = {0};
  PetscInt   *offsets;
  PetscCount *start = NULL;
  PetscLayout layout;
  PetscBool   strict, symmetric;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(report, sizeof(*report)));
  report->generated    = kind == MTX_VALUES_DOMINANT ? PETSC_TRUE : PETSC_FALSE;
  report->firstmissing = PETSC_INT_MAX;
  PetscCall(ReaderOpen(file, &r));
  PetscCall(ReadHeader(&r, report));
  CheckLine(report->field[0] != 'p' || report->generated, &r, "the file is a pattern: it has no values to solve with");
  PetscCall(ReadSizes(&r, report));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, report->rows, report->cols));
  PetscCall(MatGetLayouts(A, &layout, NULL));
  PetscCall(PetscLayoutSetUp(layout));
  PetscCall(PetscLayoutGetRange(layout, &t.first, &t.last));
  PetscCall(ReadEntries(&r, report, &t));
  PetscCall(ReaderClose(&r));

  symmetric = strcmp(report->symmetry, "symmetric") ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(TriplesDiagonal(&t, complete, report));
  PetscCall(TriplesToRows(&t, &start));
  PetscCall(RowsSum(&t, start, report, &offsets));
  PetscCall(PetscFree(start));
  if (report->generated) RowsGenerate(&t, offsets, symmetric);
  RowsJudge(&t, offsets, &report->positive, &report->dominant, &strict);
  PetscCall(RowsToMat(&t, offsets, A));
  PetscCall(PetscFree(offsets));
  PetscCall(PetscFree(t.col));
  PetscCall(PetscFree(t.value));

  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->duplicates, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->missing, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->firstmissing, 1, MPIU_INT, MPI_MIN, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->positive, 1, MPI_C_BOOL, MPI_LAND, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->dominant, 1, MPI_C_BOOL, MPI_LAND, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &strict, 1, MPI_C_BOOL, MPI_LOR, comm));
  report->completed = complete && report->missing ? PETSC_TRUE : PETSC_FALSE;
  report->dominant  = report->positive && report->dominant && strict ? PETSC_TRUE : PETSC_FALSE;
  if (symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
