/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of C's header when a kernel is preprocessed: these macros stay names, and defined. */
#if __has_include_next(<ctype.h>)
#include_next <ctype.h>
#endif
#ifndef OP2_KEPT_CTYPE
#define OP2_KEPT_CTYPE
#ifdef tolower
#undef tolower
#define tolower tolower
#endif
#ifdef toupper
#undef toupper
#define toupper toupper
#endif
#endif
