/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of C's header when a kernel is preprocessed: these macros stay names, and defined. */
#if __has_include_next(<complex.h>)
#include_next <complex.h>
#endif
#ifndef OP2_KEPT_COMPLEX
#define OP2_KEPT_COMPLEX
#ifdef I
#undef I
#define I I
#endif
#ifdef _Complex_I
#undef _Complex_I
#define _Complex_I _Complex_I
#endif
#ifdef CMPLX
#undef CMPLX
#define CMPLX CMPLX
#undef CMPLXF
#define CMPLXF CMPLXF
#endif
#endif
