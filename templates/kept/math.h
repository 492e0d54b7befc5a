/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of C's header when a kernel is preprocessed: these macros stay names, and defined. */
#if __has_include_next(<math.h>)
#include_next <math.h>
#endif
#ifndef OP2_KEPT_MATH
#define OP2_KEPT_MATH
#ifdef M_PI
#undef M_PI
#define M_PI M_PI
#undef M_E
#define M_E M_E
#undef M_LOG2E
#define M_LOG2E M_LOG2E
#undef M_LOG10E
#define M_LOG10E M_LOG10E
#undef M_LN2
#define M_LN2 M_LN2
#undef M_LN10
#define M_LN10 M_LN10
#undef M_PI_2
#define M_PI_2 M_PI_2
#undef M_PI_4
#define M_PI_4 M_PI_4
#undef M_1_PI
#define M_1_PI M_1_PI
#undef M_2_PI
#define M_2_PI M_2_PI
#undef M_2_SQRTPI
#define M_2_SQRTPI M_2_SQRTPI
#undef M_SQRT2
#define M_SQRT2 M_SQRT2
#undef M_SQRT1_2
#define M_SQRT1_2 M_SQRT1_2
#endif
#ifdef HUGE_VAL
#undef HUGE_VAL
#define HUGE_VAL HUGE_VAL
#endif
#ifdef NAN
#undef NAN
#define NAN NAN
#undef INFINITY
#define INFINITY INFINITY
#undef HUGE_VALF
#define HUGE_VALF HUGE_VALF
#undef isnan
#define isnan isnan
#undef isinf
#define isinf isinf
#undef isfinite
#define isfinite isfinite
#undef signbit
#define signbit signbit
#undef fpclassify
#define fpclassify fpclassify
#undef isnormal
#define isnormal isnormal
#undef isgreater
#define isgreater isgreater
#undef isgreaterequal
#define isgreaterequal isgreaterequal
#undef isless
#define isless isless
#undef islessequal
#define islessequal islessequal
#undef islessgreater
#define islessgreater islessgreater
#undef isunordered
#define isunordered isunordered
#endif
#endif
