/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of C's header when a kernel is preprocessed: these macros stay names, and defined. */
#if __has_include_next(<float.h>)
#include_next <float.h>
#endif
#ifndef OP2_KEPT_FLOAT
#define OP2_KEPT_FLOAT
#ifdef DBL_MAX
#undef DBL_MAX
#define DBL_MAX DBL_MAX
#undef DBL_MIN
#define DBL_MIN DBL_MIN
#undef DBL_EPSILON
#define DBL_EPSILON DBL_EPSILON
#undef FLT_MAX
#define FLT_MAX FLT_MAX
#undef FLT_MIN
#define FLT_MIN FLT_MIN
#undef FLT_EPSILON
#define FLT_EPSILON FLT_EPSILON
#endif
#ifdef DBL_TRUE_MIN
#undef DBL_TRUE_MIN
#define DBL_TRUE_MIN DBL_TRUE_MIN
#undef FLT_TRUE_MIN
#define FLT_TRUE_MIN FLT_TRUE_MIN
#endif
#endif
