// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/op2.hpp"

/// Meshes from files, and results for ParaView.
namespace op2 {

/// @brief A mesh in a file of NumPy's (.npz), as written by `pyop2cxx.io.write_npz`, or by
/// numpy.savez of arrays with these names.
struct MeshFile {
  std::string path;  ///< of the file
  int cell_type =
      0;          ///< VTK's number: 3 interval, 5 triangle, 9 quadrilateral, 10 tetrahedron, ...
  int gdim = 0;   ///< of points
  int arity = 0;  ///< vertices of a cell
  std::int64_t n_vertices = 0;                  ///< points
  std::int64_t n_cells = 0;                     ///< cells
  Array<double> points;                         ///< [n_vertices][gdim]
  Array<int> cells;                             ///< [n_cells][arity], in the order of kernels
  std::map<std::string, Array<int>> numbers;    ///< other arrays of integers, row by row
  std::map<std::string, Array<double>> values;  ///< other arrays of real numbers, row by row

  /// @brief A member of `numbers`: "interior_facets.cells", "exterior_facets.tags.inflow".
  /// @throws UsageError for an unknown name; the message lists all names.
  [[nodiscard]] const Array<int>& integers(const std::string& name) const;

  /// @brief A member of `values`.
  /// @throws UsageError for an unknown name; the message lists all names.
  [[nodiscard]] const Array<double>& reals(const std::string& name) const;
};

/// @brief Read a mesh. Checksums, shapes and ranges are checked.
/// @throws UsageError if the file cannot be read, is damaged or compressed, or its arrays do not
/// fit.
[[nodiscard]] MeshFile read_mesh(const std::string& path);

/// @brief Values on the vertices or the cells of a mesh, as a file shows them: `{"q", q.read()}`.
struct Field {
  std::string name;                ///< shown
  std::span<const double> values;  ///< [n_vertices or n_cells][any number]
};

/// @brief Write values on a mesh for ParaView, as a .vtu file; whole or not at all.
/// @throws UsageError if the file cannot be written, or the number of values does not fit the
/// entities.
void write_vtu(const std::string& path, const MeshFile& mesh, const std::vector<Field>& on_vertices,
               const std::vector<Field>& on_cells = {});

}  // namespace op2
