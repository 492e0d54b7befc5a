// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace op2::mesh {

/// Elements of one kind, in the order of a file of Gmsh.
struct MshBlock {
  std::string kind;                    ///< "vertex", "line", "triangle", "quad", "tetra", ...
  std::int32_t n_nodes = 0;            ///< of each element; its corners come first
  std::vector<std::int32_t> nodes;     // [n * n_nodes] rows of MshMesh::points
  std::vector<std::int32_t> groups;    // physical groups to which all of them belong
  std::vector<std::int32_t> group_of;  // [n] or [0]: physical group of each; 0 is none
};

/// A physical group with a name.
struct MshName {
  std::int32_t dim = 0;
  std::int32_t group = 0;
  std::string name;
};

/// Nodes of an entity, such as a side of a box, in place of the nodes of another entity.
struct MshLink {
  std::int32_t dim = 0;
  std::vector<std::int32_t> nodes;  // [n * 2] rows of MshMesh::points: here, and there
};

/// The content of a file of Gmsh.
struct MshMesh {
  std::vector<double> points;  // [n_points * 3]
  std::vector<MshBlock> blocks;
  std::vector<MshName> names;
  std::vector<MshLink> links;
};

/// @brief Whether `read_msh` reads the file: MSH of version 2.2 or 4.1, of this machine's byte
/// order, without partitions. Says nothing of the rest of the file.
[[nodiscard]] bool is_readable_msh(std::span<const char> data);

/// @brief Read a mesh in Gmsh's format MSH, version 2.2 or 4.1, as text or binary.
/// Facts of the format: https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format
/// @param[in] data The whole file.
/// @param[in] with_links Whether $Periodic is read, too; else the section is skipped.
/// @throws MeshFileError if the file ends too early or has impossible content; the message names
/// the section, and the line of a text file or the byte of a binary file.
[[nodiscard]] MshMesh read_msh(std::span<const char> data, bool with_links = false);

}  // namespace op2::mesh
