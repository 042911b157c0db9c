/*
   result_line.cuh: candidates and options of bench.cu, and the lines that it writes of each result.
*/
#ifndef RESULT_LINE_CUH
#define RESULT_LINE_CUH

#include "measure.cuh"
#include "solve/model/model.h"

/* An algorithm with settings, or "". */
struct Candidate {
  const TrsvAlgorithm *algorithm;
  std::string          settings;
};

static const char *PrecisionName(TrsvPrecision p)
{
  static const char *const name[] = {"float", "double", "complex-float", "complex"};

  return name[p];
}

struct Options {
  std::vector<Candidate> candidates;
  TrsvPrecision          precision = TRSV_DOUBLE;
  FILE                  *json      = nullptr;
  double                 budget    = 60;
  double                 tune      = -1; /* seconds; < 0: no pairs */
  int                    ranks     = 1;
  std::vector<size_t>    limits;        /* bytes of shared memory, without clusters; empty: those of the device */
  int                    code      = 0; /* the compute capability of the kernels' code: 80 or 90 */
  double                 bandwidth = 0; /* bytes read and written per ms by a copy */
  double                 handle    = 0; /* ms for cuSPARSE's handle, which an application creates once */
  int                    bad       = 0;
};

/* The subject of a line. */
struct Subject {
  const char *matrix, *triangle, *values;
  bool        real;
  int         rows, levels;
  long        nnz;
  double      granularity, distance;
  size_t      csr_bytes;
  double      cpu_ms, floor_ms, cusparse_ms, cusparse_analysis_ms, bound;
  size_t      limit;  /* one of Options.limits; 0: none */
  bool        finite; /* if the solution overflows on the host too, the solve must only end */
};

static size_t CsrBytes(const TrsvStatistics &s, const Options &o)
{
  return sizeof(int) * ((size_t)s.rows + 1) + (size_t)s.nnz * (4 + TrsvValueSize(o.precision));
}

/* The largest of: the bytes of a solve over the bandwidth; a launch; 22 ns for each level set, by shuffle. */
static double Floor(const TrsvStatistics &s, const Options &o)
{
  const double bytes = (double)CsrBytes(s, o) + 2. * s.rows * (double)TrsvValueSize(o.precision);

  return std::max({0.0039, bytes / o.bandwidth, 22e-6 * s.levels});
}

static double Bound(const TrsvStatistics &s, const Options &o)
{
  return (TrsvRealPrecision(o.precision) == TRSV_FLOAT ? 1e-6
          : TrsvIsComplex(o.precision)                 ? 3e-15
                                                       : 1e-15) *
         (4 + s.row_max / 16);
}

static void WriteResult(const Subject &s, const char *algorithm, const char *setting, int rank, bool selected,
                        double predicted_ms, const Result &r, Options &o)
{
  const TrsvAlgorithm *a    = TrsvAlgorithmFind(algorithm);
  const bool           vary = a && (a->traits & TRSV_BITS_VARY);
  const bool           ok =
    r.refused || (!r.failure[0] && (r.error <= s.bound || !s.finite) && (r.same_bits || vary || !s.finite));

  if (!ok && strcmp(algorithm, "cusparse")) o.bad++;
  printf("%-28s %-5s%-4s %8d %9ld %7d %-9s%c", s.matrix, s.triangle, strcmp(s.values, "own") ? "" : " own", s.rows,
         s.nnz, s.levels, algorithm, selected ? '*' : ' ');
  if (r.ms < 0)
    printf(" %s error %.0e%s%s\n", r.failure, r.error, s.finite ? "" : " (the solution overflows)", ok ? "" : " WRONG");
  else
    printf(" %9.4f ms (graph %.4f) %6.2fx cuSPARSE %6.2fx CPU %6.1fx floor, analysis %7.2f ms (%.2fx cuSPARSE's), plan "
           "%.2fx CSR, error %.0e %s%s%s%s\n",
           r.ms, r.graph_ms, s.cusparse_ms / r.ms, s.cpu_ms / r.ms, r.ms / s.floor_ms, r.analysis_ms,
           r.analysis_ms / s.cusparse_analysis_ms, (double)r.bytes / (double)s.csr_bytes, r.error, setting,
           r.same_bits ? ""
           : vary      ? " (bits vary)"
                       : " BITS DIFFER",
           ok ? "" : " WRONG ", r.failure);
  fflush(stdout);
  if (!o.json) return;
  fprintf(o.json, "{");
  if (s.limit) fprintf(o.json, "\"shared_bytes\": %zu, \"code\": %d, ", s.limit, o.code);
  fprintf(o.json,
          "\"matrix\": \"%s\", \"real\": %s, \"rows\": %d, \"nnz\": %ld, \"levels\": %d, \"granularity\": %.4f, "
          "\"distance\": %.4g, \"triangle\": \"%s\", \"precision\": \"%s\", \"values\": \"%s\", \"algorithm\": \"%s\", "
          "\"setting\": \"%s\", \"rank\": %d, \"selected\": %s, ",
          s.matrix, s.real ? "true" : "false", s.rows, s.nnz, s.levels, s.granularity, s.distance, s.triangle,
          PrecisionName(o.precision), s.values, algorithm, setting, rank, selected ? "true" : "false");
  fprintf(
    o.json,
    "\"ms\": %.6g, \"solves\": %d, \"graph_ms\": %.6g, \"predicted_ms\": %.6g, \"cusparse_ms\": %.6g, \"cpu_ms\": "
    "%.6g, \"floor_ms\": %.6g, \"analysis_ms\": %.6g, \"cusparse_analysis_ms\": %.6g, \"plan_bytes\": %zu, "
    "\"csr_bytes\": %zu, \"error\": %.3g, \"same_bits\": %s, \"hash\": \"%016llx\", \"failure\": \"%s\", "
    "\"ok\": %s",
    r.ms, r.solves, r.graph_ms, predicted_ms, s.cusparse_ms, s.cpu_ms, s.floor_ms, r.analysis_ms,
    s.cusparse_analysis_ms, r.bytes, s.csr_bytes, std::isfinite(r.error) ? r.error : -1, r.same_bits ? "true" : "false",
    r.hash, r.failure, ok && !r.refused ? "true" : "false");
  EndResult(o.json);
  fflush(o.json);
}

#endif
