/*
   Interprets schedules of the algorithm `chunk` on the host, as the kernel would run them at its slowest and at its fastest, and compares
   with a serial solve: that every dependency is there when it is read, early ones a step ahead; that no cell changes hands while
   it is needed; that imports get cells in time.

     schedule [-P chunks] [-K length] [-W width] [-N cluster] [-R ring] [-L life] [-u] matrix ...
*/
#include <math.h>
#include <time.h>
#include "chunk.h"
#include "triangles.h"

#define Check(ok, ...) \
  do { \
    if (!(ok)) { \
      printf("FAIL %s:%d: ", __FILE__, __LINE__); \
      printf(__VA_ARGS__); \
      printf("\n"); \
      return 1; \
    } \
  } while (0)

static double Seconds(void)
{
  struct timespec t;

  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int Interpret(const ChunkSchedule *s, const TrsvMatrix *A, const double *values, const double *b, double *x)
{
  const int  K = s->settings.length, W = s->settings.width, ring = s->settings.ring, rows = CHUNK_ROWS(K), steps = CHUNK_STEPS(K, W), words = CHUNK_TAIL(K);
  double    *exports = malloc(sizeof(double) * ((size_t)s->exports + 1)), *cell = malloc(sizeof(double) * (size_t)(ring + s->cells + 2));
  int       *written = malloc(sizeof(int) * (size_t)(ring + s->cells + 2)), *produced = malloc(sizeof(int) * ((size_t)s->exports + 1)), *row_of = malloc(sizeof(int) * (size_t)rows);
  double    *pushed = malloc(sizeof(double) * (size_t)(s->cells + 1)), *push_next = malloc(sizeof(double) * (size_t)(s->cells + 1));
  int        bad    = 0;

  for (long e = 0; e < s->exports; e++) exports[e] = NAN, produced[e] = -1;
  for (int c = 0; c <= s->cells; c++) push_next[c] = NAN;
  for (int i = 0; i < A->rows; i++) x[i] = NAN;
  for (int q = 0; q < s->chunks && !bad; q++) {
    const ChunkHead *h = &s->heads[q];
    int              batches = 0;
    double          *t = pushed;

    pushed = push_next, push_next = t;
    for (int c = 0; c <= s->cells; c++) push_next[c] = NAN;
    if (q % s->settings.cluster == 0)
      for (int c = 0; c <= s->cells; c++) pushed[c] = NAN;
    for (int c = 0; c < ring + s->cells + 2; c++) cell[c] = NAN, written[c] = -1;
    cell[0] = 0, written[0] = -2;
    if (s->settings.life < 0) {
      for (int c = 0; c < h->cells; c++) cell[CHUNK_CELL + ring + c] = pushed[c];
      for (int i = 0; i < h->imports; i++) {
        const ChunkImport im = s->list[h->import_ + i];

        Check(im.cell >= 0 && im.cell < h->cells && im.word >= 0 && im.word < s->exports, "import %d of chunk %d", i, q);
        Check(isnan(pushed[im.cell]), "chunk %d: cell %d imported and pushed", q, im.cell);
      }
    }
    for (int stage = 0; stage < h->stages; stage++) {
      int rows_here = 0;

      for (int r = 0; r < rows; r++) row_of[r] = -1;
      for (int r = 0; r < rows; r++) {
        const size_t to = (size_t)(h->stage + stage) * (size_t)rows + (size_t)r;

        if (!s->rows[to]) continue;
        Check(r == rows_here, "rows of a stage have a gap");
        Check(!r || s->rows[to] > s->rows[to - 1], "rows of a stage do not rise");
        row_of[s->places[to]] = s->rows[to] - 1, rows_here++;
      }
      if (s->settings.life >= 0) /* batches get their cells as late as they may; a stage's imports must be there as it starts */
        for (; batches < s->batch_of[h->stage + stage]; batches++) {
          Check(s->after[h->batch + batches] + 1 <= stage || !s->after[h->batch + batches], "batch %d of chunk %d comes late", batches, q);
          for (int i = batches * CHUNK_BATCH; i < (batches + 1) * CHUNK_BATCH && i < h->imports; i++) {
            const ChunkImport im = s->list[h->import_ + i];

            cell[CHUNK_CELL + ring + im.cell]    = NAN;
            written[CHUNK_CELL + ring + im.cell] = im.word;
          }
        }
      for (int j = 0; j < steps; j++) {
        const int step = stage * steps + j;
        double    result[32];

        for (int l = 0; l < W; l++) {
          const size_t    place = (size_t)(h->stage + stage) * (size_t)rows + (size_t)(j * W + l);
          const unsigned *tail  = s->tails + place * (size_t)words;
          const int      *from  = s->sources + place * (1 + (size_t)K), d = from[0] < 0 ? -from[0] : from[0];
          const double    inverse = d >= 2 ? 1 / values[d - 2] : 1;
          double          sum     = from[0] > 0 ? b[row_of[j * W + l]] * inverse : 0;

          Check((from[0] > 0) == (row_of[j * W + l] >= 0), "chunk %d step %d lane %d: row %d, source %d", q, step, l, row_of[j * W + l], from[0]);
          for (int k = 0; k < K; k++) {
            const int    c = ((const unsigned short *)(tail + 1))[k], f = from[1 + k];
            const double a = f == 0 ? 0 : f == 1 ? 1 : -values[f - 2] * inverse;

            if (!c) {
              Check(!f, "value without a cell");
              continue;
            }
            Check(f && c >= CHUNK_CELL && c < CHUNK_CELL + ring + s->cells, "cell %d", c);
            if (c < CHUNK_CELL + ring) {
              Check(written[c] >= 0 && written[c] <= step - (k < K - CHUNK_LATE ? 2 : 1), "chunk %d step %d lane %d: dependency %d of %d was written in step %d", q, step, l, k, K, written[c]);
              /* lanes of the step that overwrites it may run before the slowest lane's read: two steps' distance */
              Check(step - written[c] <= ring / W - 2, "chunk %d step %d: cell of step %d", q, step, written[c]);
            } else {
              if (isnan(cell[c])) {
                int word = -1;

                if (s->settings.life >= 0) word = written[c];
                else
                  for (int i = 0; i < h->imports; i++)
                    if (s->list[h->import_ + i].cell == c - CHUNK_CELL - ring) word = s->list[h->import_ + i].word;
                Check(word >= 0, "chunk %d step %d: nobody writes cell %d", q, step, c);
                Check(produced[word] >= 0, "chunk %d step %d: import of an export not made yet", q, step);
                cell[c] = exports[word];
              }
            }
            sum += a * cell[c];
          }
          result[l] = sum;
        }
        for (int l = 0; l < W; l++) {
          const size_t    place = (size_t)(h->stage + stage) * (size_t)rows + (size_t)(j * W + l);
          const unsigned *tail  = s->tails + place * (size_t)words;
          const int       to    = CHUNK_CELL + ((step * W + l) & (ring - 1));

          cell[to] = result[l], written[to] = step;
          if (tail[0] & 0xffff) {
            const int c = (int)(tail[0] & 0xffff) - CHUNK_CELL - ring;

            Check(c >= 0 && c < s->cells && s->settings.cluster > 1 && (q + 1) % s->settings.cluster && isnan(push_next[c]), "push to cell %d", c);
            push_next[c] = result[l];
          }
          if (tail[0] >> 16) {
            const int e = s->starts[h->stage + stage] + (int)(tail[0] >> 16) - 1;

            Check(e >= h->export_ && e < h->export_ + h->exports && produced[e] < 0, "export %d", e);
            exports[e] = result[l], produced[e] = step;
          }
          if (row_of[j * W + l] >= 0) x[row_of[j * W + l]] = result[l];
        }
      }
    }
  }
  free(exports), free(cell), free(written), free(produced), free(row_of), free(pushed), free(push_next);
  return bad;
}

static int Test(const char *name, const Triangle *T, int upper, const TrsvChunkSettings *wanted, int quiet)
{
  TrsvMatrix         A       = {T->rows, T->offsets, T->columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE};
  const int         *source  = NULL;
  int               *offsets = NULL;
  TrsvChunkSettings  settings = *wanted;
  ChunkSchedule      s;
  unsigned long long seed = 3;
  const size_t       n    = (size_t)T->rows + 1;
  double            *b = malloc(sizeof(double) * n), *x = malloc(sizeof(double) * n), *y = malloc(sizeof(double) * n), error = 0, norm = 1e-300, start;
  TrsvAnalysis      *analysis;

  if (upper) {
    TrsvMatrix U;

    if (TrsvTranspose(&A, &U, &offsets, &source)) return 1;
    A = U;
  }
  Check(!TrsvAnalyse(&A, &analysis), "%s", TrsvErrorMessage());
  start = Seconds();
  if (!settings.chunks) Check(!TrsvChunkSettingsChoose(&A, analysis, 132, &settings), "%s", TrsvErrorMessage());
  Check(!TrsvChunkSchedule(&A, source, &settings, &s), "%s", TrsvErrorMessage());
  start = Seconds() - start;
  for (int i = 0; i < A.rows; i++) b[i] = 2 * MatrixRandom(&seed) - 1;
  for (int p = 0; p < A.rows; p++) {
    const int i = upper ? A.rows - 1 - p : p;
    int       begin, end, diagonal;
    double    sum = b[i];

    TrsvRow(&A, i, &begin, &end, &diagonal);
    for (int k = begin; k < end; k++) sum -= T->values[source ? source[k] : k] * y[A.columns[k]];
    y[i] = sum / T->values[source ? source[diagonal] : diagonal];
  }
  if (Interpret(&s, &A, T->values, b, x)) {
    printf("FAIL %s\n", name);
    return 1;
  }
  for (int i = 0; i < A.rows; i++) error += (x[i] - y[i]) * (x[i] - y[i]), norm += y[i] * y[i];
  error = sqrt(error / norm);
  Check(error < 1e-12, "%s: error %g", name, error);
  if (!quiet) {
    char   line[200];
    double places = (double)s.stages * CHUNK_ROWS(s.settings.length), csr = 12.0 * A.offsets[A.rows] + 4.0 * A.rows;
    double bytes = (double)s.stages * CHUNK_STAGE(s.settings.length, 8) + places * (4 * (1 + s.settings.length) + 5) + 8.0 * (double)s.imports + 16.0 * (double)s.exports;

    TrsvChunkSettingsPrint(&s.settings, line, sizeof(line));
    printf("%-28s %c rows %8d levels %6d | %s | %6.1f ms | steps %6d max %d fill %.2f partial %ld imports %ld pushed %ld own %ld exports %ld cells %d | %.2f x CSR\n", name, upper ? 'U' : 'L', A.rows, analysis->statistics.levels, line, 1e3 * start, s.steps, 0, (double)s.records / places, s.partial, s.imports, s.pushed, s.own, s.exports, s.cells, bytes / csr);
  }
  TrsvChunkScheduleFree(&s);
  TrsvAnalysisDestroy(&analysis);
  free(offsets), free(b), free(x), free(y);
  return 0;
}

int main(int argc, char **argv)
{
  TrsvChunkSettings s     = {0, 3, 32, 1, 2048, 8, -1, 8, 5};
  int               upper = 0, quiet = 0, bad = 0, count = 0;

  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-' && argv[i][1] == 'u') upper = 1;
    else if (argv[i][0] == '-' && argv[i][1] == 'q') quiet = 1;
    else if (argv[i][0] == '-') {
      const char o = argv[i][1];
      const int  v = atoi(argv[++i]);

      *(o == 'P' ? &s.chunks : o == 'K' ? &s.length : o == 'W' ? &s.width : o == 'N' ? &s.cluster : o == 'R' ? &s.ring : o == 'L' ? &s.life : o == 'S' ? &s.stages : o == 'C' ? &s.far : &s.near) = v;
    } else {
      Triangle T = MatrixMake(argv[i]);

      if (T.rows < 0) {
        printf("no %s\n", argv[i]);
        return 1;
      }
      bad |= Test(argv[i], &T, 0, &s, quiet);
      if (upper) bad |= Test(argv[i], &T, 1, &s, quiet);
      count++;
      MatrixFree(&T);
    }
  }
  printf("schedule: %d matrices %s\n", count, bad ? "FAILED" : "ok");
  return bad;
}
