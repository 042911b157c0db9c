/*
   complex_words.h: accesses of complex words. Each is two accesses of real words, and another thread may run between
   them. Included by complex.cuh.
*/
#ifndef SIMT_COMPLEX_WORDS_H
#define SIMT_COMPLEX_WORDS_H

template <class R> static inline TrsvComplex<R> trsv_load(const TrsvComplex<R> *p,
                                                          simt::Line at = simt::Line::current())
{
  const R re = trsv_load(&p->re, at);

  return {re, trsv_load(&p->im, at)};
}
template <class R> static inline void trsv_store(TrsvComplex<R> *p, TrsvComplex<R> v)
{
  trsv_store(&p->re, v.re);
  trsv_store(&p->im, v.im);
}
template <class R> static inline void trsv_shared_store(unsigned a, TrsvComplex<R> v)
{
  trsv_shared_store(a, v.re);
  trsv_shared_store(a + (unsigned)sizeof(R), v.im);
}
template <class R> static inline void trsv_push_if(TrsvPeer p, unsigned a, TrsvComplex<R> v, bool condition)
{
  trsv_push_if(p, a, v.re, condition);
  trsv_push_if(p, a + (unsigned)sizeof(R), v.im, condition);
}

#define SIMT_COMPLEX_SHARED_LOAD(R) \
  template <> inline TrsvComplex<R> trsv_shared_load<TrsvComplex<R>>(unsigned a, simt::Line at) \
  { \
    const R re = trsv_shared_load<R>(a, at); \
\
    return {re, trsv_shared_load<R>(a + (unsigned)sizeof(R), at)}; \
  }
SIMT_COMPLEX_SHARED_LOAD(float)
SIMT_COMPLEX_SHARED_LOAD(double)
#undef SIMT_COMPLEX_SHARED_LOAD

#endif
