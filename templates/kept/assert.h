/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of C's header when a kernel is preprocessed: the macro stays a name unless it is off. */
#if __has_include_next(<assert.h>)
#include_next <assert.h>
#endif
#ifndef NDEBUG
#undef assert
#define assert assert
#endif
