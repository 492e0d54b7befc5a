/* pyop2cxx VERSION: flux, strategy atomic */

static inline void flux(const double *q, double *r, double *total) {
  for (int c = 0; c < 2; c++) {
    double f = q[c] - q[2 + c];
    r[c] += f;
    r[2 + c] -= f;
    total[0] += f * f;
  }
}

static inline void op2_atomic_add_float64(double *target, double value) {
  double seen;
  double wanted;
  __atomic_load(target, &seen, __ATOMIC_RELAXED);
  do {
    wanted = (double)(seen + value);
  } while (!__atomic_compare_exchange(target, &seen, &wanted, 1, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED));
}

static __attribute__((noinline)) void wrap_flux(long begin, long end,
    const double *__restrict__ q,
    const int *__restrict__ q_map,
    double *__restrict__ r,
    const int *__restrict__ r_map,
    double *__restrict__ total) {
  for (long n = begin; n < end; ++n) {
    double q_pack[4];
    const double *q_pack_from0 = q + (long)q_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    const double *q_pack_from1 = q + (long)q_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    double r_pack[4] = {0};
    double total_pack[1] = {0};
    flux(q_pack, r_pack, total_pack);
    double *r_pack_to0 = r + (long)r_map[n * 2] * 2;
    op2_atomic_add_float64(&r_pack_to0[0], r_pack[0]);
    op2_atomic_add_float64(&r_pack_to0[1], r_pack[1]);
    double *r_pack_to1 = r + (long)r_map[n * 2 + 1] * 2;
    op2_atomic_add_float64(&r_pack_to1[0], r_pack[2]);
    op2_atomic_add_float64(&r_pack_to1[1], r_pack[3]);
    total[0] += total_pack[0];
  }
}

struct op2_context_v1 {
  void *queue;
  void *scratch;
  long scratch_bytes;
  void *parameters;
  long *error;
  int n_threads;
  unsigned int flags;
};

static int op2_launch_flux_in_team(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv) {
  // What is asked of a loop that shares a parallel region with others.
  int n_shares = 0;
  if (context->flags == 4) {
    #pragma omp parallel num_threads(context->n_threads)
    {
      (*(void (*const *)(void *))context->parameters)(context->parameters);
    }
  } else if (context->flags == 8) {
    #pragma omp barrier
  } else if (context->flags == 16) {
    #pragma omp for schedule(static) nowait
    for (int share = 0; share < context->n_threads; ++share) {
      ++n_shares;
    }
  } else {
    const double *const q = (const double *)argv[0];
    double *const r = (double *)argv[1];
    double *const total = (double *)argv[2];
    const int *const q_map = (const int *)argv[3];
    const long n_slots = context->n_threads;
    double *total_partial = (double *)((char *)context->scratch + 0);
    #pragma omp for schedule(static) nowait
    for (long slot = 0; slot < n_slots; ++slot) {
      total_partial[slot * 8] = 0;
    }
    #pragma omp for schedule(static)
    for (long slot = 0; slot < context->n_threads; ++slot) {
      wrap_flux(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
          / context->n_threads, q, q_map, r, q_map, total_partial + slot * 8);
    }
    #pragma omp single
    {
      // The slots' results, in their order.
      for (long slot = 0; slot < n_slots; ++slot) {
        total[0] += total_partial[slot * 8];
      }
    }
  }
  return n_shares;
}

int op2_launch_flux(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  if (context->flags > 1) {
    return op2_launch_flux_in_team(context, begin, end, argv);
  }
  const double *const q = (const double *)argv[0];
  double *const r = (double *)argv[1];
  double *const total = (double *)argv[2];
  const int *const q_map = (const int *)argv[3];
  const long n_slots = context->n_threads;
  double *total_partial = (double *)((char *)context->scratch + 0);
  for (long slot = 0; slot < n_slots; ++slot) {
    total_partial[slot * 8] = 0;
  }
  if (context->flags) {
    for (long slot = 0; slot < context->n_threads; ++slot) {
      wrap_flux(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
          / context->n_threads, q, q_map, r, q_map, total_partial + slot * 8);
    }
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      #pragma omp for schedule(static)
      for (long slot = 0; slot < context->n_threads; ++slot) {
        wrap_flux(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
            / context->n_threads, q, q_map, r, q_map, total_partial + slot * 8);
      }
    }
  }
  // The slots' results, in their order.
  for (long slot = 0; slot < n_slots; ++slot) {
    total[0] += total_partial[slot * 8];
  }
  return 0;
}
