/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of C's header when a kernel is preprocessed: these macros stay names, and defined. */
#if __has_include_next(<errno.h>)
#include_next <errno.h>
#endif
#ifndef OP2_KEPT_ERRNO
#define OP2_KEPT_ERRNO
#ifdef errno
#undef errno
#define errno errno
#endif
#endif
