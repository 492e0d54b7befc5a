# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that exercise the front end: name, text and the headers it needs."""

from __future__ import annotations

SAVE = """
void save_soln(const double *q, double *qold) {
  for (int n = 0; n < 4; n++) qold[n] = q[n];
}
"""

ADT = """
void adt_calc(const double *x, const double *q, double *adt) {
  double ri, u, v, c, dx, dy;
  ri = 1.0 / q[0];
  u = ri * q[1], v = ri * q[2];
  c = sqrt(gam * gm1 * (ri * q[3] - 0.5 * (u * u + v * v)));
  *adt = 0.0;
  for (int k = 0; k < 4; ++k) {
    const int l = (k + 1) % 4;  // the next node around the cell
    dx = x[2 * l] - x[2 * k];
    dy = x[2 * l + 1] - x[2 * k + 1];
    *adt += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
  }
  *adt /= cfl;
}
"""

RES = """
void res_calc(const double *x, const double *q, const double *adt, double *res) {
  const double *q1 = q, *q2 = q + 4;
  double dx = x[0] - x[2], dy = x[1] - x[3];
  double p1 = gm1 * (q1[3] - 0.5f * (q1[1] * q1[1] + q1[2] * q1[2]) / q1[0]);
  double p2 = gm1 * (q2[3] - 0.5f * (q2[1] * q2[1] + q2[2] * q2[2]) / q2[0]);
  double w1 = (q1[1] * dy - q1[2] * dx) / q1[0];
  double w2 = (q2[1] * dy - q2[2] * dx) / q2[0];
  double mu = 0.5f * (adt[0] + adt[1]) * eps;
  double f[4];
  f[0] = 0.5f * (w1 * q1[0] + w2 * q2[0]) + mu * (q1[0] - q2[0]);
  f[1] = 0.5f * (w1 * q1[1] + p1 * dy + w2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);
  f[2] = 0.5f * (w1 * q1[2] - p1 * dx + w2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);
  f[3] = 0.5f * (w1 * (q1[3] + p1) + w2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);
  for (int n = 0; n < 4; ++n) {
    res[n] += f[n];
    res[4 + n] -= f[n];
  }
}
"""

BRES = """
void bres_calc(const double *x, const double *q, const double *adt, double *res,
               const int *bound) {
  double dx = x[0] - x[2], dy = x[1] - x[3];
  double p = gm1 * (q[3] - 0.5f * (q[1] * q[1] + q[2] * q[2]) / q[0]);
  if (*bound == 1) {
    res[1] += +p * dy;
    res[2] += -p * dx;
  } else {
    double w = (q[1] * dy - q[2] * dx) / q[0], mu = adt[0] * eps;
    for (int n = 0; n < 4; n += 1) res[n] += w * q[n] + mu * (q[n] - qinf[n]);
  }
}
"""

UPDATE = """
void update(const double *qold, double *q, double *res, const double *adt, double *rms) {
  double del, adti;
  adti = 1.0 / (*adt);
  for (int n = 0; n < 4; n++) {
    del = adti * res[n];
    q[n] = qold[n] - del;
    res[n] = 0.0;
    *rms += del * del;
  }
}
"""

# In the manner of a form compiler: tables, blocks, subscripts in parentheses, restrict.
LAPLACE = """
void laplace(double* restrict A, const double* restrict w, const double* restrict coordinate_dofs)
{
// Quadrature rules
static const double weights[3] = {1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0};
static const double D10[1][1][3] = {{{-1.0, 1.0, 0.0}}};
static const double D01[1][1][3] = {{{-1.0, 0.0, 1.0}}};
double J0 = 0.0;
double J1 = 0.0;
double J2 = 0.0;
double J3 = 0.0;
{
  for (int ic = 0; ic < 3; ++ic)
  {
    J0 += coordinate_dofs[(ic) * 3] * D10[0][0][ic];
    J1 += coordinate_dofs[(ic) * 3] * D01[0][0][ic];
    J2 += coordinate_dofs[(ic) * 3 + 1] * D10[0][0][ic];
    J3 += coordinate_dofs[(ic) * 3 + 1] * D01[0][0][ic];
  }
}
double sp[4];
sp[0] = J0 * J3;
sp[1] = -(J1 * J2);
sp[2] = sp[0] + sp[1];
sp[3] = fabs(sp[2]);
for (int iq = 0; iq < 3; ++iq)
{
  double fw[1];
  fw[0] = sp[3] * weights[iq] * (w[0] + w[1] + w[2]) / 3.0;
  for (int i = 0; i < (3); ++i)
  {
    for (int j = 0; j < (3); ++j)
    {
      A[3 * (i) + (j)] += fw[0] * (D10[0][0][i] * D10[0][0][j] + D01[0][0][i] * D01[0][0][j]);
    }
  }
}
}
"""

# Gauss points, two-dimensional local arrays, a pointer to rows.
AERO = """
static const double wg[2] = {0.5555555555555556, 0.8888888888888888};
static double det2(double a[2][2]) { return a[0][0] * a[1][1] - a[0][1] * a[1][0]; }

void res_calc_fe(const double *x_, const double *phim, double *K, double *res) {
  const double (*x)[2] = (const double (*)[2])x_;
  double Ng[4][4], dN[2][4];
  for (int j = 0; j < 4; j++) res[j] = 0;
  for (int i = 0; i < 4; i++) {
    double a[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
    for (int m = 0; m < 4; m++) {
      dN[0][m] = Ng[i][m] = 0.25 * (m - 1.5);
      dN[1][m] = -dN[0][m] * i;
      for (int d = 0; d < 2; d++) {
        a[d][0] += dN[0][m] * x[m][d];
        a[d][1] += dN[1][m] * x[m][d];
      }
    }
    double wt1 = wg[i % 2] * det2(a);
    for (int m = 0; m < 4; m++)
      for (int n = 0; n < 4; n++) K[m * 4 + n] += wt1 * (dN[0][m] * dN[0][n] - phim[n] * Ng[i][n]);
  }
}
"""

EVERYTHING = """
#include <complex.h>
#define N 3
#define SQ(x) ((x)*(x))
typedef double real;
typedef int three[3];
enum { FIRST, FIFTH = 5 };
static const real T[N][2] = {{1., 2.}, {3., 4.}, {5, 6}};
extern double gam;
static real helper(const real *restrict a, real (*x)[2], int n) {
  return (a[n]) - x[n][1] * T[n][0];
}
void everything(double *a, const double *b, unsigned char *flag, double _Complex *z, int64_t *m)
{
  double (*x)[2] = (double(*)[2])a;
  const int n = 4; double loc[n + FIFTH] = {0}; three idx = {0, 1, 2};
  for (int i = 0, j = 1; i < N; i++, j++) {
    loc[i] = SQ(b[i] + 1) + (real)(b[i]) + helper(b, x, i) + idx[j - 1];
  }
  if ((n > 2 && *flag) || a[0] > 3) { a[0] = -(-loc[0]); } else if (a[1]) a[1]++; else { --a[2]; }
  switch (n) { case 1: case 2: a[0] = 1; break; case FIRST: { a[0] += 2; } break; default: ; }
  do { a[0] *= 2; } while (a[0] < 10 ? 1 : 0);
  while ((m[0] = m[0] - 1)) { if (isnan(a[0])) continue; break; }
  z[0] = conj(z[0]) * I + csqrt(z[1]); b++;
  memset(a, 0, 3 * sizeof(double)); (void)sizeof a;
  a[3] = gam * M_PI + INFINITY + -INT_MAX; a[4] = a[0] - (a[1] - a[2]); a[5] = 1 << (2 + 1);
  m[0] |= 3 & ~m[1]; a[6] = (1., 'a') + NAN; m[1] = 0x7fL - 010u;
}
"""

KERNELS = {
    "save_soln": SAVE,
    "adt_calc": ADT,
    "res_calc": RES,
    "bres_calc": BRES,
    "update": UPDATE,
    "laplace": LAPLACE,
    "res_calc_fe": AERO,
    "everything": EVERYTHING,
}
