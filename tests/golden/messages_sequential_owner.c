/* pyop2cxx VERSION: messages, strategy owner */

static inline void messages(const double *a, const double *b, double *r) {
  for (int i = 0; i < 2; ++i) {
    r[i] += a[i] - b[i];
  }
}

static __attribute__((noinline)) void wrap_messages(long begin, long end,
    const double *__restrict__ a,
    const int *__restrict__ a_map,
    const double *__restrict__ b,
    const int *__restrict__ b_map,
    double *__restrict__ r,
    const long *__restrict__ incidence_offset,
    const int *__restrict__ incidence,
    const int *__restrict__ touched) {
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (long t = begin; t < end; ++t) {
    const long target = (touched ? touched[t] : t);
    double r_own[2];
    for (long c = 0; c < 2; ++c) {
      r_own[c] = r[target * 2 + c];
    }
    // Every element that leads to the target, for what the target gets of it.
    for (long k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const long n = incidence[k];
      double a_pack[2];
      const long a_pack_from0 = (long)a_map[n * 2] * 2;
      a_pack[0] = a[a_pack_from0];
      a_pack[1] = a[a_pack_from0 + 1];
      double b_pack[2];
      const long b_pack_from0 = (long)b_map[n * 2 + 1] * 2;
      b_pack[0] = b[b_pack_from0];
      b_pack[1] = b[b_pack_from0 + 1];
      double r_pack[2] = {0};
      messages(a_pack, b_pack, r_pack);
      for (long c = 0; c < 2; ++c) {
        r_own[c] += r_pack[c];
      }
    }
    for (long c = 0; c < 2; ++c) {
      r[target * 2 + c] = r_own[c];
    }
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

int op2_launch_messages(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  const double *const a = (const double *)argv[0];
  const double *const b = (const double *)argv[1];
  double *const r = (double *)argv[2];
  const int *const a_map = (const int *)argv[3];
  const int *const b_map = (const int *)argv[4];
  const long *const incidence_offset = (const long *)argv[5];
  const int *const incidence = (const int *)argv[6];
  const int *const touched = (const int *)argv[7];
  wrap_messages(begin, end, a, a_map, b, b_map, r, incidence_offset, incidence, touched);
  return 0;
}
