/*
   complex.cuh: complex values in kernels: arithmetic, words, shuffles. Included by sync.cuh.

   Each part of a product is a product and a fused multiply-add. Inf times a finite value may be NaN, as in Fortran. A
   quotient is computed by Smith's method (Algorithm 116, CACM 1962), which squares no magnitude.

   A complex word is two real words, each its own flag (sync.cuh). One access loads or stores both. In the memory model
   it is two accesses in any order, each of them atomic; the code does not rely on hardware that does both at once. So a
   load may find one half ready and the other not: a value is ready if both halves are. A ready half keeps its bits, so
   a later load may replace both halves.
*/
#ifndef TRSV_COMPLEX_CUH
#define TRSV_COMPLEX_CUH

template <class R> struct alignas(2 * sizeof(R)) TrsvComplex {
  R re, im;

  TrsvComplex() = default;
  __host__ __device__ constexpr TrsvComplex(R real, R imaginary = 0) : re(real), im(imaginary) { }

  friend TRSV_INLINE TrsvComplex operator-(TrsvComplex a) { return {-a.re, -a.im}; }
  friend TRSV_INLINE TrsvComplex operator+(TrsvComplex a, TrsvComplex b) { return {a.re + b.re, a.im + b.im}; }
  friend TRSV_INLINE TrsvComplex operator-(TrsvComplex a, TrsvComplex b) { return {a.re - b.re, a.im - b.im}; }
  friend TRSV_INLINE TrsvComplex operator*(TrsvComplex a, TrsvComplex b)
  {
    return {fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
  }
  friend TRSV_INLINE TrsvComplex operator/(R a, TrsvComplex b)
  {
    const bool wide  = fabs(b.re) >= fabs(b.im);
    const R    ratio = wide ? b.im / b.re : b.re / b.im;
    const R    part  = a / (wide ? fma(b.im, ratio, b.re) : fma(b.re, ratio, b.im));

    return wide ? TrsvComplex(part, -(ratio * part)) : TrsvComplex(ratio * part, -part);
  }
  friend TRSV_INLINE bool  operator==(TrsvComplex a, TrsvComplex b) { return a.re == b.re && a.im == b.im; }
  friend TRSV_INLINE bool  operator!=(TrsvComplex a, TrsvComplex b) { return !(a == b); }
  TRSV_INLINE TrsvComplex &operator+=(TrsvComplex b) { return *this = *this + b; }
  TRSV_INLINE TrsvComplex &operator-=(TrsvComplex b) { return *this = *this - b; }
  TRSV_INLINE TrsvComplex &operator*=(TrsvComplex b) { return *this = *this * b; }
};

/* The instance of a function template for values of a precision. */
#define TRSV_BY_PRECISION(precision, f) \
  ((precision) == TRSV_FLOAT           ? f<float> \
   : (precision) == TRSV_DOUBLE        ? f<double> \
   : (precision) == TRSV_COMPLEX_FLOAT ? f<TrsvComplex<float>> \
                                       : f<TrsvComplex<double>>)

/* Calls run with a value of the type of a precision. */
template <class Run> static inline TrsvError TrsvByType(TrsvPrecision precision, Run run)
{
  return precision == TRSV_FLOAT         ? run(float())
       : precision == TRSV_DOUBLE        ? run(double())
       : precision == TRSV_COMPLEX_FLOAT ? run(TrsvComplex<float>())
                                         : run(TrsvComplex<double>());
}

template <class R> static TRSV_INLINE TrsvComplex<R> fma(TrsvComplex<R> a, TrsvComplex<R> b, TrsvComplex<R> c)
{
  return {fma(-a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}

/* The magnitude, in a real type S; the real part; the conjugate. */
template <class S, class R> static TRSV_INLINE S trsv_magnitude(R v) { return fabs((S)v); }
template <class S, class R> static TRSV_INLINE S trsv_magnitude(TrsvComplex<R> v) { return hypot((S)v.re, (S)v.im); }
template <class R> static TRSV_INLINE R          trsv_real(R v) { return v; }
template <class R> static TRSV_INLINE R          trsv_real(TrsvComplex<R> v) { return v.re; }
template <class R> static TRSV_INLINE TrsvComplex<R> trsv_conjugate(TrsvComplex<R> v) { return {v.re, -v.im}; }
template <class T> using TrsvReal = decltype(trsv_real(T())); /* the type of a magnitude */

/* Complex words: the functions of threads.cuh and sync.cuh. */
template <class R> struct TrsvWord<TrsvComplex<R>> : TrsvWord<R> { };

#ifdef TRSV_SIMT
  #include "complex_words.h"
#else
  #define TRSV_REGISTERS(letter) letter(v.re), letter(v.im)
TRSV_WORD(TrsvComplex<float>, "v2.f32", "f", TRSV_REGISTERS, "{%0, %1}", "%2", "%3")
TRSV_WORD(TrsvComplex<double>, "v2.f64", "d", TRSV_REGISTERS, "{%0, %1}", "%2", "%3")
TRSV_PUSH(TrsvComplex<float>, "v2.f32", "f", TRSV_REGISTERS, "{%0, %1}", "%2", "%3", "%4")
TRSV_PUSH(TrsvComplex<double>, "v2.f64", "d", TRSV_REGISTERS, "{%0, %1}", "%2", "%3", "%4")
  #undef TRSV_REGISTERS
  #undef TRSV_WORD
  #undef TRSV_PUSH
template <class R> static TRSV_INLINE TrsvComplex<R> __ldcs(const TrsvComplex<R> *p)
{
  const auto v = __ldcs((const std::conditional_t<sizeof(R) == sizeof(float), float2, double2> *)p);
  return {v.x, v.y};
}
#endif

template <class R> static TRSV_INLINE bool trsv_is_ready(TrsvComplex<R> v)
{
  return trsv_is_ready(v.re) && trsv_is_ready(v.im);
}
template <class R> static TRSV_INLINE unsigned trsv_mark_of(TrsvComplex<R> v)
{
  const unsigned re = trsv_mark_of(v.re);

  return re == trsv_mark<R>() ? re : trsv_mark_of(v.im);
}
template <class R> static TRSV_INLINE TrsvComplex<R> trsv_unmarked(TrsvComplex<R> v)
{
  return {trsv_unmarked(v.re), trsv_unmarked(v.im)};
}
template <class R> static TRSV_INLINE TrsvComplex<R> trsv_canonical(TrsvComplex<R> v)
{
  return {trsv_canonical(v.re), trsv_canonical(v.im)};
}
template <class R> static TRSV_INLINE TrsvComplex<R> trsv_publish(TrsvComplex<R> *p, TrsvComplex<R> v)
{
  if (!trsv_is_ready(v.re)) v.re = trsv_nan<R>();
  if (!trsv_is_ready(v.im)) v.im = trsv_nan<R>();
  trsv_store(p, v);
  return v;
}

/* Shuffles: one for each half. */
#define TRSV_COMPLEX_SHUFFLE(name, Argument) \
  template <class R> static TRSV_INLINE TrsvComplex<R> name(unsigned mask, TrsvComplex<R> v, Argument lanes, \
                                                            int width = 32) \
  { \
    return {name(mask, v.re, lanes, width), name(mask, v.im, lanes, width)}; \
  }
TRSV_COMPLEX_SHUFFLE(__shfl_sync, int)
TRSV_COMPLEX_SHUFFLE(__shfl_up_sync, unsigned)
TRSV_COMPLEX_SHUFFLE(__shfl_xor_sync, int)
#undef TRSV_COMPLEX_SHUFFLE

#endif
