/*
   clang.h: what the executor needs and clang 14 has not: source locations, and gcc's name for the address sanitizer.
*/
#define __SANITIZE_ADDRESS__ 1
#ifdef __cplusplus
  #include <version>
  #ifndef __cpp_lib_source_location
namespace std
{
struct source_location {
  unsigned    at;
  const char *file;

  static constexpr source_location current(unsigned at = __builtin_LINE(), const char *file = __builtin_FILE())
  {
    return {at, file};
  }
  constexpr unsigned    line() const { return at; }
  constexpr const char *file_name() const { return file; }
};
} // namespace std
  #endif
#endif
