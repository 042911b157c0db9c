/*
   Several threads create, fill, use and destroy objects of trsv.h on one GPU at the same time. Each solution must have
   the bits that one thread alone has found.

     threads [-n THREADS] [-r ROUNDS] MATRIX...   matrices: matrices.h; symmetric patterns, for IC(0)
*/
#include <stdlib.h>
#include <string.h>
#include <string>
#include <thread>
#include <vector>
#include "expect.cuh"
extern "C" {
#include "entries.h"
}

/* A matrix on the device, and one way to factor it. */
struct Case {
  std::string         name;
  TrsvCSR             A;
  TrsvFactorKind      kind;
  TrsvOrderRequest    order;
  double             *b;        /* ones, on the device; the cases of a matrix share them */
  std::vector<double> expected; /* the solution */
};

/* In [0, 1), the same for (i,j) and (j,i). */
static double Fraction(int i, int j)
{
  unsigned long long seed = (unsigned long long)min(i, j) * 2654435761ull + (unsigned long long)max(i, j);

  return RandomUniform(&seed);
}

/* A symmetric matrix of this pattern, with a diagonal that is larger than the rest of its row. */
static Matrix MakeDominant(const Matrix &M)
{
  Entries e = {0, 0, NULL, NULL, NULL};
  Matrix  made;

  for (int i = 0; i < M.rows; i++) {
    double sum = 1;

    for (int k = M.offsets[i]; k < M.offsets[i + 1]; k++) {
      const double value = 1 + Fraction(i, M.columns[k]);

      if (M.columns[k] == i) continue;
      AddEntry(&e, i, M.columns[k], -value);
      sum += value;
    }
    AddEntry(&e, i, i, sum);
  }
  FromEntries(M.rows, M.rows, 1, &e, &made);
  return made;
}

/* A copy on the device, which stays until the end. */
template <class T> static T *Upload(const T *from, size_t count)
{
  T *to = NULL;

  EXPECT_SUCCESS(TrsvCopyNew(TRSV_DEVICE, TRSV_HOST, from, sizeof(T) * count, &to));
  return to;
}

static TrsvError SolveWith(TrsvIlu *ilu, const Case &c, TrsvStream stream, double *x, std::vector<double> *found)
{
  const TrsvPivots pivots = {TRSV_SHIFT_NONE, 0, 1e-13};
  TrsvOutcome      outcome;

  TrsvCall(TrsvIluSetValues(ilu, c.A.values, &pivots, &outcome, stream));
  if (outcome.row >= 0) return TrsvFail(TRSV_ERR_ARGUMENT, "a zero pivot in row %d", outcome.row);
  TrsvCall(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, c.b, x, stream));
  found->assign((size_t)c.A.rows, 0);
  return TrsvDeviceDownload(found->data(), x, sizeof(double) * (size_t)c.A.rows, stream);
}

/* The whole life of an object, which factors twice. */
static TrsvError Live(const Case &c, TrsvStream stream, double *x, std::vector<double> found[2])
{
  TrsvIluRequest request = {};
  TrsvIlu       *ilu;
  TrsvError      error;

  request.kind      = c.kind;
  request.precision = TRSV_DOUBLE;
  request.memory    = TRSV_DEVICE;
  request.place     = TRSV_PLACE_DEVICE;
  request.order     = c.order;
  request.selection = TRSV_SELECT_MODEL;
  request.timeout   = 30;
  TrsvCall(TrsvIluCreate(&request, c.A.rows, &c.A, &ilu));
  error = TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, stream);
  for (int time = 0; time < 2 && !error; time++) error = SolveWith(ilu, c, stream, x, &found[time]);
  TrsvIluDestroy(&ilu);
  return error;
}

static std::vector<Case> MakeCases(char *const *names, int count, int *most)
{
  static const TrsvFactorKind   kinds[]  = {TRSV_ILU, TRSV_ICC};
  static const TrsvOrderRequest orders[] = {TRSV_ORDER_GIVEN, TRSV_ORDER_MULTICOLOR, TRSV_ORDER_AUTO};
  std::vector<Case>             cases;

  *most = 0;
  for (int n = 0; n < count; n++) {
    Matrix pattern;

    if (MatrixMake(names[n], &pattern)) exit(2);
    Matrix       M = MakeDominant(pattern);
    const size_t rows = (size_t)M.rows, entries = (size_t)M.offsets[rows];
    const TrsvCSR A = {M.rows, Upload(M.offsets, rows + 1), Upload(M.columns, entries), Upload(M.values, entries), 0};
    const std::vector<double> ones(rows, 1.0);
    double *const             b = Upload(ones.data(), rows);

    for (TrsvFactorKind kind : kinds)
      for (TrsvOrderRequest order : orders) cases.push_back({names[n], A, kind, order, b, {}});
    *most = max(*most, M.rows);
    MatrixFree(&M);
    MatrixFree(&pattern);
  }
  return cases;
}

/* Runs cases in an order that differs from thread to thread. */
static void RunThread(const std::vector<Case> &cases, int thread, int rounds, int most)
{
  cudaStream_t        own = NULL;
  double             *x   = NULL;
  std::vector<double> found[2];

  if (thread % 2) EXPECT_CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  EXPECT_SUCCESS(TrsvDeviceAlloc(sizeof(double) * (size_t)most, &x));
  for (size_t r = 0; r < (size_t)rounds; r++)
    for (size_t k = 0; k < cases.size(); k++) {
      const Case &c = cases[(k * (2 * (size_t)thread + 1) + (size_t)thread) % cases.size()];

      EXPECT_SUCCESS(Live(c, own, x, found));
      for (const std::vector<double> &f : found)
        EXPECT(f.size() == c.expected.size() && !memcmp(f.data(), c.expected.data(), sizeof(double) * f.size()),
               "%s, kind %d, order %d in thread %d: other bits", c.name.c_str(), c.kind, c.order, thread);
    }
  TrsvDeviceFree(x);
  if (own) EXPECT_CUDA(cudaStreamDestroy(own));
}

int main(int argc, char **argv)
{
  int threads = 8, rounds = 3, first = 1, most;

  for (; first + 1 < argc && argv[first][0] == '-'; first += 2)
    *(argv[first][1] == 'n' ? &threads : &rounds) = atoi(argv[first + 1]);
  std::vector<Case> cases = MakeCases(argv + first, argc - first, &most);
  double           *x     = NULL;

  EXPECT_SUCCESS(TrsvDeviceAlloc(sizeof(double) * (size_t)most, &x));
  for (Case &c : cases) {
    std::vector<double> found[2];

    EXPECT_SUCCESS(Live(c, NULL, x, found));
    c.expected = found[0];
    EXPECT(!found[0].empty() && found[0] == found[1], "%s: new values give another solution", c.name.c_str());
  }
  std::vector<std::thread> running;
  for (int t = 0; t < threads; t++) running.emplace_back([&, t] { RunThread(cases, t, rounds, most); });
  for (std::thread &t : running) t.join();
  TrsvDeviceFree(x);
  printf("%zu objects in %d threads: %d wrong\n", cases.size() * (size_t)(rounds * threads), threads, failures.load());
  return failures != 0;
}
