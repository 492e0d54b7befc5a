// SPDX-License-Identifier: BSD-3-Clause
#include "api/mesh_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "api/recorded.hpp"
#include "base/error.hpp"
#include "move/values.hpp"

namespace op2 {
namespace {

/// Kinds of cells: VTK's number, vertices, dimension, and where each vertex of VTK's order stands.
struct Kind {
  int type;
  int arity;
  int tdim;
  std::vector<int> order;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{3, 2, 1, {0, 1}},
                                        {5, 3, 2, {0, 1, 2}},
                                        {9, 4, 2, {0, 1, 3, 2}},
                                        {10, 4, 3, {0, 1, 2, 3}},
                                        {12, 8, 3, {0, 1, 3, 2, 4, 5, 7, 6}}};
  return all;
}

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// One array of a file, as it lies there.
struct Stored {
  std::string kind;                 // of NumPy: "<f8"
  std::vector<std::int64_t> shape;  // [rows, ...]
  std::string_view bytes;
};

/// Reads an archive of NumPy's: a zip file whose members are not compressed.
class Archive {
 public:
  explicit Archive(const std::string& path) : path_(path) {
    const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
    if (file == nullptr) fail("it cannot be read");
    std::array<char, 65536> piece{};
    for (std::size_t n = 1; n > 0;) {
      n = std::fread(piece.data(), 1, piece.size(), file.get());
      bytes_.append(piece.data(), n);
    }
    const std::size_t end = std::string_view(bytes_).rfind("PK\5\6");
    if (end == std::string::npos) fail("it is no archive of NumPy's (.npz), or cut short");
    std::size_t at = number(end + 16, 4);
    for (std::size_t n = number(end + 10, 2); n > 0; --n) at = read_member(at);
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw UsageError(fmt::format("read_mesh: {}: {}", path_, why));
  }
  [[nodiscard]] const std::map<std::string, Stored>& arrays() const { return arrays_; }

 private:
  std::string_view part(std::size_t begin, std::size_t n) const {
    if (begin > bytes_.size() || n > bytes_.size() - begin) fail("it is cut short or damaged");
    return std::string_view(bytes_).substr(begin, n);
  }
  std::size_t number(std::size_t begin, int n_bytes) const {
    std::size_t found = 0;
    const std::string_view bytes = part(begin, static_cast<std::size_t>(n_bytes));
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
      found = found << 8U | static_cast<unsigned char>(*byte);
    }
    return found;
  }
  /// Read what the directory says at @p at, and the member; return where the next one stands.
  std::size_t read_member(std::size_t at) {
    if (part(at, 4) != "PK\1\2") fail("its directory is damaged");
    const std::string name(part(at + 46, number(at + 28, 2)));
    if (number(at + 10, 2) != 0) fail(name + " is compressed; write it by numpy.savez");
    const std::size_t size = number(at + 24, 4);
    const std::size_t header = number(at + 42, 4);
    if (part(header, 4) != "PK\3\4") fail(name + " is damaged");
    const std::size_t begin = header + 30 + number(header + 26, 2) + number(header + 28, 2);
    const std::string_view content = part(begin, size);
    if (api::checksum_of(content) != number(at + 16, 4)) {
      fail(name + " is damaged: it has another checksum than when it was written");
    }
    const bool is_array = name.ends_with(".npy");
    if (is_array) arrays_[name.substr(0, name.size() - 4)] = array_in(name, content);
    return at + 46 + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
  }
  Stored array_in(const std::string& name, std::string_view content) const {
    const bool is_long = content.size() > 6 && content[6] > 1;
    const std::size_t start = is_long ? 12 : 10;
    if (!content.starts_with("\x93NUMPY") || content.size() < start) fail(name + " is no array");
    std::size_t length = 0;
    for (std::size_t i = start; i-- > 8;) {
      length = length << 8U | static_cast<unsigned char>(content[i]);
    }
    if (length > content.size() - start) fail(name + " is cut short");
    const std::string header(content.substr(start, length));
    if (header.find("'fortran_order': False") == std::string::npos) {
      fail(name + " lies column by column; write numpy.ascontiguousarray of it");
    }
    Stored found{between(header, "'descr': '", "'"), {}, content.substr(start + length)};
    const std::string_view numbers = "fiub";
    const bool is_known = found.kind.size() > 2 && numbers.find(found.kind[1]) != numbers.npos;
    if (!is_known) return found;  // texts, dates and objects are not looked at
    std::string shape = between(header, "'shape': (", ")");
    std::ranges::replace(shape, ',', ' ');
    const char* digits = shape.c_str();
    std::int64_t n = std::atoi(found.kind.substr(2).c_str());
    for (char* next = nullptr;; digits = next) {
      found.shape.push_back(std::strtoll(digits, &next, 10));
      if (next == digits) break;
      n = found.shape.back() < 0 || found.shape.back() > std::numeric_limits<int>::max()
              ? -1
              : n * found.shape.back();
      if (n < 0 || n > static_cast<std::int64_t>(content.size())) fail(name + " is cut short");
    }
    found.shape.pop_back();
    if (n != static_cast<std::int64_t>(found.bytes.size())) fail(name + " is cut short");
    return found;
  }
  static std::string between(const std::string& text, std::string_view from, std::string_view to) {
    const std::size_t begin = text.find(from);
    if (begin == std::string::npos) return "";
    const std::size_t start = begin + from.size();
    return text.substr(start, text.find(to, start) - start);
  }

  std::string path_;
  std::string bytes_;
  std::map<std::string, Stored> arrays_;
};

/// The values of an array, in a type of programs in C++.
template <class T, class From>
Array<T> converted(const Archive& file, const std::string& name, std::string_view bytes) {
  Array<T> found(bytes.size() / sizeof(From));
  const auto n = static_cast<std::int64_t>(found.size());
  constexpr auto to_bytes = static_cast<std::int64_t>(sizeof(T));
  constexpr auto from_bytes = static_cast<std::int64_t>(sizeof(From));
  const std::int64_t unfit = move::first_unfit_value<T, From, false>(bytes.data(), from_bytes, n);
  if (unfit >= 0) {
    const auto value =
        static_cast<std::int64_t>(move::value_at<From>(bytes.data() + unfit * from_bytes));
    file.fail(fmt::format("{} has {}, more than int", name, value));
  }
  move::convert_values<T, From>(reinterpret_cast<char*>(found.data()), to_bytes, bytes.data(),
                                from_bytes, n);
  return found;
}

/// Keep one array as integers or as real numbers; others are not for programs in C++.
void keep(const Archive& file, const std::string& name, const Stored& array, MeshFile& mesh) {
  const auto& [kind, shape, bytes] = array;
  if (kind == "<f8") mesh.values[name] = converted<double, double>(file, name, bytes);
  if (kind == "<f4") mesh.values[name] = converted<double, float>(file, name, bytes);
  if (kind == "<i8") mesh.numbers[name] = converted<int, std::int64_t>(file, name, bytes);
  if (kind == "<i4") mesh.numbers[name] = converted<int, std::int32_t>(file, name, bytes);
  if (kind == "<u4") mesh.numbers[name] = converted<int, std::uint32_t>(file, name, bytes);
  if (kind == "|u1" || kind == "|b1") {
    mesh.numbers[name] = converted<int, std::uint8_t>(file, name, bytes);
  }
}

/// Take an array of a mesh out of the others.
template <class T>
Array<T> taken(const Archive& file, std::map<std::string, Array<T>>& among, const char* name,
               std::size_t n_axes) {
  const auto found = file.arrays().find(name);
  const auto kept = among.find(name);
  if (found == file.arrays().end()) file.fail(fmt::format("there is no array '{}'", name));
  if (found->second.shape.size() != n_axes || kept == among.end()) {
    file.fail(fmt::format("'{}' must be an array of {} with {} axes", name,
                          std::is_same_v<T, int> ? "integers" : "real numbers", n_axes));
  }
  Array<T> values = std::move(kept->second);
  among.erase(kept);
  return values;
}

void check(const Archive& file, const MeshFile& mesh) {
  for (std::size_t i = 0; i < mesh.cells.size(); ++i) {
    if (mesh.cells[i] < 0 || mesh.cells[i] >= mesh.n_vertices) {
      file.fail(fmt::format("cell {} names vertex {}; there are 0 to {}",
                            i / static_cast<std::size_t>(mesh.arity), mesh.cells[i],
                            mesh.n_vertices - 1));
    }
  }
  for (std::size_t i = 0; i < mesh.points.size(); ++i) {
    if (!std::isfinite(mesh.points[i])) {
      file.fail(fmt::format("point {} is not finite", i / static_cast<std::size_t>(mesh.gdim)));
    }
  }
}

template <class Map>
const auto& named(const std::string& path, const Map& among, const std::string& name) {
  const auto found = among.find(name);
  if (found != among.end()) return found->second;
  std::string known;
  for (const auto& [other, values] : among) known += (known.empty() ? "" : ", ") + other;
  throw UsageError(fmt::format("{}: there is no array '{}' of this type; there are: {}", path, name,
                               known.empty() ? "none" : known));
}

/// The bytes of a .vtu file: XML, then all arrays, each behind its length.
class Document {
 public:
  template <class T>
  void array(const char* type, const std::string& name, std::size_t n_components,
             const std::vector<T>& values) {
    std::string quoted;
    for (const char c : name) {
      quoted += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
    }
    text += fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" "
        "offset=\"{}\"/>\n",
        type, quoted, n_components, blobs_.size());
    const std::uint64_t n_bytes = values.size() * sizeof(T);
    blobs_.append(reinterpret_cast<const char*>(&n_bytes), sizeof n_bytes);
    blobs_.append(reinterpret_cast<const char*>(values.data()), n_bytes);
  }
  void fields(const char* tag, const std::vector<Field>& fields, std::int64_t n_entities) {
    text += fmt::format("<{}>\n", tag);
    for (const Field& field : fields) {
      const auto n = static_cast<std::size_t>(n_entities);
      if (n == 0 || field.values.empty() || field.values.size() % n != 0) {
        throw UsageError(fmt::format("write_vtu: field '{}' has {} values for {} entities",
                                     field.name, field.values.size(), n_entities));
      }
      const std::size_t width = field.values.size() / n;
      array("Float64", field.name, width == 2 ? 3 : width, padded(field.values, width));
    }
    text += fmt::format("</{}>\n", tag);
  }
  /// Vectors of two as vectors of three, which is what pictures take for vectors.
  static std::vector<double> padded(std::span<const double> values, std::size_t width,
                                    std::size_t least = 2) {
    const std::size_t to = width >= least && width < 3 ? 3 : width;
    std::vector<double> found(values.size() / width * to);
    for (std::size_t i = 0; i < values.size(); ++i) found[i / width * to + i % width] = values[i];
    return found;
  }
  [[nodiscard]] std::string whole() const {
    return text + "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_" + blobs_ +
           "\n</AppendedData>\n</VTKFile>\n";
  }

  std::string text;

 private:
  std::string blobs_;
};

}  // namespace

const Array<int>& MeshFile::integers(const std::string& name) const {
  return named(path, numbers, name);
}

const Array<double>& MeshFile::reals(const std::string& name) const {
  return named(path, values, name);
}

MeshFile read_mesh(const std::string& path) {
  const Archive file(path);
  MeshFile mesh;
  mesh.path = path;
  for (const auto& [name, array] : file.arrays()) keep(file, name, array, mesh);
  mesh.points = taken(file, mesh.values, "points", 2);
  mesh.cells = taken(file, mesh.numbers, "cells", 2);
  const Array<int> type = taken(file, mesh.numbers, "cell_type", 1);
  const auto kind = std::ranges::find(kinds(), type.empty() ? 0 : type[0], &Kind::type);
  if (kind == kinds().end()) file.fail("'cell_type' must be 3, 5, 9, 10 or 12, a number of VTK's");
  const std::vector<std::int64_t>& points = file.arrays().at("points").shape;
  const std::vector<std::int64_t>& cells = file.arrays().at("cells").shape;
  mesh.cell_type = kind->type;
  mesh.arity = kind->arity;
  if (cells[1] != kind->arity || points[1] < kind->tdim || points[1] > 3) {
    file.fail(
        fmt::format("cells of type {} have {} vertices and points of {} to 3 numbers, got {} "
                    "and {}",
                    kind->type, kind->arity, kind->tdim, cells[1], points[1]));
  }
  mesh.n_vertices = points[0];
  mesh.gdim = static_cast<int>(points[1]);
  mesh.n_cells = cells[0];
  check(file, mesh);
  return mesh;
}

void write_vtu(const std::string& path, const MeshFile& mesh, const std::vector<Field>& on_vertices,
               const std::vector<Field>& on_cells) {
  const auto kind = std::ranges::find(kinds(), mesh.cell_type, &Kind::type);
  if (kind == kinds().end() || kind->arity != mesh.arity || mesh.gdim < 1) {
    throw UsageError(fmt::format("write_vtu: a mesh of cells of type {} with {} vertices is none",
                                 mesh.cell_type, mesh.arity));
  }
  const auto n_cells = static_cast<std::size_t>(mesh.n_cells);
  const auto arity = static_cast<std::size_t>(mesh.arity);
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> offsets;
  for (std::size_t cell = 0; cell < n_cells; ++cell) {
    for (const int place : kind->order) {
      rows.push_back(mesh.cells[cell * arity + static_cast<std::size_t>(place)]);
    }
    offsets.push_back(static_cast<std::int64_t>(rows.size()));
  }
  Document file;
  file.text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
      "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<Points>\n",
      mesh.n_vertices, mesh.n_cells);
  file.array("Float64", "Points", 3,
             Document::padded(mesh.points, static_cast<std::size_t>(mesh.gdim), 1));
  file.text += "</Points>\n<Cells>\n";
  file.array("Int64", "connectivity", 1, rows);
  file.array("Int64", "offsets", 1, offsets);
  file.array("UInt8", "types", 1,
             std::vector<std::uint8_t>(n_cells, static_cast<std::uint8_t>(mesh.cell_type)));
  file.text += "</Cells>\n";
  file.fields("PointData", on_vertices, mesh.n_vertices);
  file.fields("CellData", on_cells, mesh.n_cells);
  const std::string part = path + ".part";
  const std::string whole = file.whole();
  std::FILE* to = std::fopen(part.c_str(), "wb");
  bool is_written = to != nullptr && std::fwrite(whole.data(), 1, whole.size(), to) == whole.size();
  if (to != nullptr) is_written = std::fclose(to) == 0 && is_written;
  if (!is_written || std::rename(part.c_str(), path.c_str()) != 0) {
    std::remove(part.c_str());
    throw UsageError(fmt::format("write_vtu: cannot write {}", path));
  }
}

}  // namespace op2
