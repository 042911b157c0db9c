/*
   mtx_lines.h: reads the lines of a plain, gzip'ed or xz'ed file, the numbers in a line, the header and the sizes. Only
   mtx.c includes it.
*/
#pragma once

#include "mtx.h"
#include <ctype.h>
#include <errno.h>
#include <lzma.h>
#include <math.h>
#include <zlib.h>

enum {
  BUFFER  = 1 << 18,
  MAXLINE = 1024 /* the format allows no more */
};

typedef enum {
  PLAIN,
  GZIP,
  XZ
} Packing;

typedef struct {
  const char  *name;
  FILE        *file;
  Packing      packing;
  z_stream     gzip;
  PetscBool    between; /* between two members of a gzip'ed file, or after the last one */
  lzma_stream  xz;
  char        *text, *packed;
  size_t       at, end; /* the part of text that is not read yet */
  PetscCount   line;    /* the number of the last line that was read */
} Reader;

static PetscErrorCode ReaderOpen(const char name[], Reader *r)
{
  unsigned char magic[6] = {0};

  PetscFunctionBegin;
  r->name = name;
  r->file = fopen(name, "rb");
  PetscCheck(r->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: %s", name, strerror(errno));
  (void)fread(magic, 1, sizeof(magic), r->file);
  rewind(r->file);
  PetscCall(PetscMalloc1(BUFFER, &r->text));
  if (!memcmp(magic, "\37\213", 2)) r->packing = GZIP;
  if (!memcmp(magic, "\3757zXZ", 6)) r->packing = XZ;
  if (r->packing == PLAIN) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(BUFFER, &r->packed));
  if (r->packing == GZIP) {
    PetscCheck(inflateInit2(&r->gzip, 16 + MAX_WBITS) == Z_OK, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "zlib cannot start decoding");
  } else {
    PetscCheck(lzma_stream_decoder(&r->xz, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "liblzma cannot start decoding");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Closes a reader, also one whose opening has failed. */
static PetscErrorCode ReaderClose(Reader *r)
{
  PetscFunctionBegin;
  if (r->packing == GZIP) (void)inflateEnd(&r->gzip);
  if (r->packing == XZ) lzma_end(&r->xz);
  if (r->file) (void)fclose(r->file);
  PetscCall(PetscFree(r->packed));
  PetscCall(PetscFree(r->text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CheckFile(cond, r, message) \
  PetscCheck(cond, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s, after line %" PetscCount_FMT ": %s", (r)->name, \
             (r)->line, message)
#define EARLY   "the compressed file ends early"
#define CORRUPT "the compressed file is corrupt"

/* Reads bytes of the file without decompression; *n = 0 at its end. */
static PetscErrorCode ReaderBytes(Reader *r, char *bytes, size_t *n)
{
  PetscFunctionBegin;
  *n = fread(bytes, 1, BUFFER, r->file);
  CheckFile(!ferror(r->file), r, strerror(errno));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReaderInflate(Reader *r)
{
  z_stream *z = &r->gzip;

  PetscFunctionBegin;
  z->next_out  = (Bytef *)r->text;
  z->avail_out = BUFFER;
  while (z->avail_out == BUFFER) {
    int ret;

    if (!z->avail_in) {
      size_t n;

      PetscCall(ReaderBytes(r, r->packed, &n));
      z->next_in  = (Bytef *)r->packed;
      z->avail_in = (uInt)n;
      CheckFile(n || r->between, r, EARLY);
      if (!n) break;
    }
    if (r->between) CheckFile(inflateReset(z) == Z_OK, r, CORRUPT);
    ret = inflate(z, Z_NO_FLUSH);
    CheckFile(ret == Z_OK || ret == Z_STREAM_END, r, CORRUPT); /* after a member only another one may follow */
    r->between = ret == Z_STREAM_END ? PETSC_TRUE : PETSC_FALSE;
  }
  r->end = BUFFER - z->avail_out;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReaderDecode(Reader *r)
{
  lzma_stream *z   = &r->xz;
  lzma_ret     ret = LZMA_OK;

  PetscFunctionBegin;
  z->next_out  = (uint8_t *)r->text;
  z->avail_out = BUFFER;
  while (z->avail_out == BUFFER && ret == LZMA_OK) {
    if (!z->avail_in) {
      PetscCall(ReaderBytes(r, r->packed, &z->avail_in));
      z->next_in = (uint8_t *)r->packed;
    }
    ret = lzma_code(z, z->avail_in ? LZMA_RUN : LZMA_FINISH);
  }
  CheckFile(ret != LZMA_BUF_ERROR, r, EARLY);
  CheckFile(ret == LZMA_OK || ret == LZMA_STREAM_END, r, CORRUPT);
  r->end = BUFFER - z->avail_out;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refills the text; end = 0 at the end of the file */
static PetscErrorCode ReaderFill(Reader *r)
{
  PetscFunctionBegin;
  r->at = r->end = 0;
  if (r->packing == PLAIN) PetscCall(ReaderBytes(r, r->text, &r->end));
  else if (r->packing == GZIP) PetscCall(ReaderInflate(r));
  else PetscCall(ReaderDecode(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* - - - errors that name file and line - - - */

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

/* Reads a line without its end; *length = -1 at the end of the file. A comment that is too long is cut. */
static PetscErrorCode ReaderLine(Reader *r, char line[MAXLINE], int *length)
{
  int       n = 0;
  PetscBool any = PETSC_FALSE, done = PETSC_FALSE, whole = PETSC_TRUE;

  PetscFunctionBegin;
  while (!done) {
    char  *from, *newline;
    size_t run, keep;

    if (r->at == r->end) {
      PetscCall(ReaderFill(r));
      if (!r->end) break;
    }
    if (!any) r->line++;
    any     = PETSC_TRUE;
    from    = r->text + r->at;
    newline = (char *)memchr(from, '\n', r->end - r->at);
    done    = newline ? PETSC_TRUE : PETSC_FALSE;
    run     = newline ? (size_t)(newline - from) : r->end - r->at;
    keep    = PetscMin(run, (size_t)(MAXLINE - 1 - n));
    if (keep < run) whole = PETSC_FALSE;
    memcpy(line + n, from, keep);
    n += (int)keep;
    r->at += run + (newline ? 1 : 0);
  }
  if (n && line[n - 1] == '\r') n--;
  line[n] = 0;
  *length = any ? n : -1;
  if (line[0] == '%' && r->line > 1) PetscFunctionReturn(PETSC_SUCCESS); /* a comment */
  CheckLine(whole, r, "the line has more than %d characters", MAXLINE - 1);
  CheckLine(strlen(line) == (size_t)n, r, "the line has a NUL character");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* - - - what is in a line - - - */

/* Reads an integer >= 0 from *s; returns false if there is none, or if it exceeds PETSC_INT_MAX. */
static inline PetscBool TakeIndex(char **s, PetscInt *value)
{
  char    *p = *s;
  PetscInt v = 0;

  while (*p == ' ' || *p == '\t') p++;
  if (!isdigit((unsigned char)*p)) return PETSC_FALSE;
  for (; isdigit((unsigned char)*p); p++) {
    const int digit = *p - '0';

    if (v > (PETSC_INT_MAX - digit) / 10) return PETSC_FALSE;
    v = 10 * v + digit;
  }
  if (*p && !isspace((unsigned char)*p)) return PETSC_FALSE;
  *s     = p;
  *value = v;
  return PETSC_TRUE;
}

/* Reads a number of the format: strtod() alone also accepts 0x10 and nan(1), and returns Inf for 1e999. */
static inline PetscBool TakeReal(char **s, double *value)
{
  char *p;

  *value = strtod(*s, &p);
  if (p == *s || (isinf(*value) && !isalpha((unsigned char)p[-1]))) return PETSC_FALSE;
  for (const char *c = *s; c < p; c++)
    if (strchr("xX(", *c)) return PETSC_FALSE;
  *s = p;
  return PETSC_TRUE;
}

static inline PetscScalar MakeScalar(double real, double imaginary)
{
#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX((PetscReal)real, (PetscReal)imaginary);
#else
  (void)imaginary;
  return (PetscReal)real;
#endif
}

static inline PetscBool AtEnd(const char *s)
{
  while (isspace((unsigned char)*s)) s++;
  return *s ? PETSC_FALSE : PETSC_TRUE;
}

/* The words of a line; *n: their number, six if there are more than five. */
static void TakeWords(char *line, const char *words[6], int *n)
{
  char *rest = line, *word;

  for (*n = 0; *n < 6 && (word = strtok_r(rest, " \t\r", &rest)); (*n)++) words[*n] = word;
}

/* - - - header and sizes - - - */

/* The first line: field and symmetry, or why this cannot be read */
static PetscErrorCode ReadHeader(Reader *r, MtxReport *report)
{
  static const char *fields[]     = {"real", "integer", "pattern", "complex"};
  static const char *symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  const char        *word[6];
  char               line[MAXLINE];
  int                n;

  PetscFunctionBegin;
  PetscCall(ReaderLine(r, line, &n));
  r->line = 1;
  CheckLine(n >= 0, r, "the file is empty");
  for (char *p = line; *p; p++) *p = (char)tolower((unsigned char)*p);
  TakeWords(line, word, &n);
  CheckLine(n && word[0] == line && !strcmp(word[0], "%%matrixmarket"), r,
            "no Matrix Market file: it does not begin with the word %%%%MatrixMarket");
  CheckLine(n >= 5, r, "the header has fewer than five words");
  CheckLine(n == 5, r, "the header has more than five words");
  CheckLine(!strcmp(word[1], "matrix"), r, "the object is %s; only a matrix can be read", word[1]);
  CheckLine(!strcmp(word[2], "coordinate"), r, "the format is %s; only coordinate, that is sparse, can be read",
            word[2]);
  for (int i = 0; i < 4; i++) {
    if (!strcmp(word[3], fields[i])) report->field = fields[i];
    if (!strcmp(word[4], symmetries[i])) report->symmetry = symmetries[i];
  }
  CheckLine(report->field, r, "the field is %s; only real, integer, complex and pattern can be read", word[3]);
  CheckLine(PetscDefined(USE_COMPLEX) || report->field != fields[3], r,
            "the field is complex; use a PETSc that was configured with --with-scalar-type=complex");
  CheckLine(report->symmetry, r,
            "the symmetry is %s; only general, symmetric, skew-symmetric and hermitian can be read", word[4]);
  CheckLine(report->field == fields[3] || report->symmetry != symmetries[3], r, "a %s matrix cannot be hermitian",
            word[3]);
  CheckLine(report->field != fields[2] || report->symmetry != symmetries[2], r, "a pattern cannot be skew-symmetric");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line of sizes, after comments. Each row takes memory, so a short file with very many rows is an error. */
static PetscErrorCode ReadSizes(Reader *r, MtxReport *report)
{
  const PetscInt few = 1000000, each = 1000;
  char           line[MAXLINE], *p = line;
  int            n;
  PetscInt       most;

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
  most = PetscMax(report->rows, report->cols);
  CheckLine(most <= few || (most - few) / each <= report->stored, r,
            "%" PetscInt_FMT " entries for %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: nearly all are empty",
            report->stored, report->rows, report->cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}
