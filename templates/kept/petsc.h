/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of PETSc's header when a kernel is preprocessed: it need not be there. */
#if __has_include_next(<petsc.h>)
#include_next <petsc.h>
#endif
