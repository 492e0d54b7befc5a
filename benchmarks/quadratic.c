// SPDX-License-Identifier: BSD-3-Clause
// Stiffness of a quadratic tetrahedron, as form compilers write it: gradients at four points.
#include <math.h>
void quadratic(double *A, const double *x) {
  static const double G[4][10][3] = TABLE;
  double J[3][3], K[3][3];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) J[r][c] = x[3 * (c + 1) + r] - x[r];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      K[c][r] = J[(r + 1) % 3][(c + 1) % 3] * J[(r + 2) % 3][(c + 2) % 3] -
                J[(r + 1) % 3][(c + 2) % 3] * J[(r + 2) % 3][(c + 1) % 3];
  double det = J[0][0] * K[0][0] + J[0][1] * K[1][0] + J[0][2] * K[2][0];
  double scale = fabs(det) / (24 * det * det);
  for (int q = 0; q < 4; ++q) {
    double g[10][3];
    for (int i = 0; i < 10; ++i)
      for (int a = 0; a < 3; ++a)
        g[i][a] = G[q][i][0] * K[0][a] + G[q][i][1] * K[1][a] + G[q][i][2] * K[2][a];
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 10; ++j)
        A[10 * i + j] += scale * (g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2]);
  }
}
