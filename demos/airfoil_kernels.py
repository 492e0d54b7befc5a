# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of the airfoil demo, and what its rms is after some iterations."""

# Constants are single-precision literals in double arithmetic, as in the reference values.
SAVE_SOLN = """
static void save_soln(const double *q, double *qold)
{
  for (int k = 0; k < 4; ++k) qold[k] = q[k];
}
"""

ADT_CALC = """
static inline double side(double dx, double dy, double u, double v, double c)
{
  return fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
}

static void adt_calc(const double *x, const double *q, double *adt)
{
  const double gam = 1.4f, gm1 = gam - 1.0f, cfl = 0.9f;
  const double ri = 1.0 / q[0];
  const double u = ri * q[1], v = ri * q[2];
  const double c = sqrt(gam * gm1 * (ri * q[3] - 0.5 * (u * u + v * v)));
  const double sum = side(x[2] - x[0], x[3] - x[1], u, v, c)
                   + side(x[4] - x[2], x[5] - x[3], u, v, c)
                   + side(x[6] - x[4], x[7] - x[5], u, v, c)
                   + side(x[0] - x[6], x[1] - x[7], u, v, c);
  adt[0] = sum / cfl;
}
"""

RES_CALC = """
static void res_calc(const double *x, const double *q, const double *adt, double *res)
{
  const double gm1 = 1.4f - 1.0f, eps = 0.05f;
  const double dx = x[0] - x[2], dy = x[1] - x[3];
  const double r1 = 1.0 / q[0], r2 = 1.0 / q[4];
  const double p1 = gm1 * (q[3] - 0.5 * r1 * (q[1] * q[1] + q[2] * q[2]));
  const double p2 = gm1 * (q[7] - 0.5 * r2 * (q[5] * q[5] + q[6] * q[6]));
  const double w1 = r1 * (q[1] * dy - q[2] * dx);
  const double w2 = r2 * (q[5] * dy - q[6] * dx);
  const double mu = 0.5 * (adt[0] + adt[1]) * eps;
  const double f0 = 0.5 * (w1 * q[0] + w2 * q[4]) + mu * (q[0] - q[4]);
  const double f1 = 0.5 * (w1 * q[1] + p1 * dy + w2 * q[5] + p2 * dy) + mu * (q[1] - q[5]);
  const double f2 = 0.5 * (w1 * q[2] - p1 * dx + w2 * q[6] - p2 * dx) + mu * (q[2] - q[6]);
  const double f3 = 0.5 * (w1 * (q[3] + p1) + w2 * (q[7] + p2)) + mu * (q[3] - q[7]);
  res[0] += f0;
  res[1] += f1;
  res[2] += f2;
  res[3] += f3;
  res[4] -= f0;
  res[5] -= f1;
  res[6] -= f2;
  res[7] -= f3;
}
"""

BRES_CALC = """
static void bres_calc(const double *x, const double *q, const double *adt, double *res,
                      const int *bound, const double *qinf)
{
  const double gm1 = 1.4f - 1.0f, eps = 0.05f;
  const double dx = x[0] - x[2], dy = x[1] - x[3];
  const double r1 = 1.0 / q[0];
  const double p1 = gm1 * (q[3] - 0.5 * r1 * (q[1] * q[1] + q[2] * q[2]));
  if (bound[0] == 1) {
    res[1] += p1 * dy;
    res[2] -= p1 * dx;
  } else {
    const double r2 = 1.0 / qinf[0];
    const double p2 = gm1 * (qinf[3] - 0.5 * r2 * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
    const double w1 = r1 * (q[1] * dy - q[2] * dx);
    const double w2 = r2 * (qinf[1] * dy - qinf[2] * dx);
    const double mu = adt[0] * eps;
    res[0] += 0.5 * (w1 * q[0] + w2 * qinf[0]) + mu * (q[0] - qinf[0]);
    res[1] += 0.5 * (w1 * q[1] + p1 * dy + w2 * qinf[1] + p2 * dy) + mu * (q[1] - qinf[1]);
    res[2] += 0.5 * (w1 * q[2] - p1 * dx + w2 * qinf[2] - p2 * dx) + mu * (q[2] - qinf[2]);
    res[3] += 0.5 * (w1 * (q[3] + p1) + w2 * (qinf[3] + p2)) + mu * (q[3] - qinf[3]);
  }
}
"""

UPDATE = """
static void update(const double *qold, double *q, double *res, const double *adt, double *rms)
{
  const double adti = 1.0 / adt[0];
  for (int k = 0; k < 4; ++k) {
    const double del = adti * res[k];
    q[k] = qold[k] - del;
    res[k] = 0.0;
    rms[0] += del * del;
  }
}
"""

# rms after so many iterations, by number of cells.
REFERENCE: dict[int, dict[int, float]] = {
    720000: {
        30: 8.8467022604e-04,
        100: 5.0218612497e-04,
        200: 3.4174603314e-04,
        300: 2.6343015502e-04,
        400: 2.1628778865e-04,
        500: 1.8465932969e-04,
        600: 1.6086647260e-04,
        700: 1.4225296030e-04,
        800: 1.2762704952e-04,
        900: 1.1581016317e-04,
        1000: 1.0601146376e-04,
    },
    6000: {
        100: 3.9910000962e-04,
        200: 1.6008166130e-04,
        300: 8.2955262519e-05,
        400: 4.8813008920e-05,
        500: 2.9418429519e-05,
        1000: 2.0980333758e-06,
    },
}
TOLERANCE = 1e-9
