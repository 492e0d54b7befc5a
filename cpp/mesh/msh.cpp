// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/msh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "mesh/msh_cursor.hpp"

namespace op2::mesh {
namespace {

/// A kind of element of the format.
struct Kind {
  int type;
  std::string_view name;
  std::int32_t n_nodes;
};

constexpr std::array kinds{
    Kind{15, "vertex", 1},      Kind{1, "line", 2},          Kind{8, "line", 3},
    Kind{26, "line", 4},        Kind{27, "line", 5},         Kind{28, "line", 6},
    Kind{62, "line", 7},        Kind{2, "triangle", 3},      Kind{9, "triangle", 6},
    Kind{20, "triangle", 9},    Kind{21, "triangle", 10},    Kind{23, "triangle", 15},
    Kind{25, "triangle", 21},   Kind{42, "triangle", 28},    Kind{3, "quad", 4},
    Kind{10, "quad", 9},        Kind{16, "quad", 8},         Kind{36, "quad", 16},
    Kind{37, "quad", 25},       Kind{38, "quad", 36},        Kind{47, "quad", 49},
    Kind{4, "tetra", 4},        Kind{11, "tetra", 10},       Kind{29, "tetra", 20},
    Kind{30, "tetra", 35},      Kind{31, "tetra", 56},       Kind{71, "tetra", 84},
    Kind{5, "hexahedron", 8},   Kind{12, "hexahedron", 27},  Kind{17, "hexahedron", 20},
    Kind{92, "hexahedron", 64}, Kind{93, "hexahedron", 125}, Kind{6, "wedge", 6},
    Kind{13, "wedge", 18},      Kind{18, "wedge", 15},       Kind{7, "pyramid", 5},
    Kind{14, "pyramid", 14},    Kind{19, "pyramid", 13}};

const Kind& kind_of(std::int32_t type, const MshCursor& at) {
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [type](const Kind& kind) { return kind.type == type; });
  if (found == kinds.end()) at.fail(fmt::format("elements of type {} are not known", type));
  return *found;
}

/// The nodes of a file: their tags, which need not be dense, and the rows that they became.
class Nodes {
 public:
  void reserve(std::int64_t n) { tags_.reserve(static_cast<std::size_t>(n)); }
  void add(std::int64_t tag) { tags_.push_back(tag); }

  /// @throws MeshFileError if a tag is there twice, or if there are too many.
  void close(const MshCursor& at) {
    if (tags_.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      at.fail("a mesh has at most 2^31 - 1 nodes");
    }
    if (tags_.empty()) return;
    const auto [low, high] = std::minmax_element(tags_.begin(), tags_.end());
    least_ = *low;
    const auto width = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    constexpr std::size_t spare = 1 << 20;
    if (width < 8 * tags_.size() + spare) {
      fill_table(static_cast<std::size_t>(width) + 1, at);
    } else {
      fill_pairs(at);
    }
  }

  /// The row of a tag; -1 where there is none.
  [[nodiscard]] std::int32_t row(std::int64_t tag) const {
    if (pairs_.empty()) {
      const auto place = static_cast<std::uint64_t>(tag) - static_cast<std::uint64_t>(least_);
      return place < table_.size() ? table_[static_cast<std::size_t>(place)] : -1;
    }
    const auto found = std::lower_bound(pairs_.begin(), pairs_.end(), std::pair{tag, 0});
    return found != pairs_.end() && found->first == tag ? found->second : -1;
  }

 private:
  void fill_table(std::size_t width, const MshCursor& at) {
    table_.assign(width, -1);
    for (std::size_t i = 0; i < tags_.size(); ++i) {
      std::int32_t& row = table_[static_cast<std::size_t>(tags_[i] - least_)];
      if (row >= 0) at.fail(fmt::format("node {} is there twice", tags_[i]));
      row = static_cast<std::int32_t>(i);
    }
  }

  void fill_pairs(const MshCursor& at) {
    pairs_.reserve(tags_.size());
    for (std::size_t i = 0; i < tags_.size(); ++i) {
      pairs_.emplace_back(tags_[i], static_cast<std::int32_t>(i));
    }
    std::sort(pairs_.begin(), pairs_.end());
    for (std::size_t i = 1; i < pairs_.size(); ++i) {
      if (pairs_[i].first == pairs_[i - 1].first) {
        at.fail(fmt::format("node {} is there twice", pairs_[i].first));
      }
    }
  }

  std::vector<std::int64_t> tags_;
  std::int64_t least_ = 0;
  std::vector<std::int32_t> table_;                           // by tag - least_
  std::vector<std::pair<std::int64_t, std::int32_t>> pairs_;  // (tag, row), sorted
};

struct Header {
  bool is_new = false;  ///< 4.1, else 2.2
  bool is_binary = false;
};

/// Read the section $MeshFormat; nothing where the format is another one.
std::optional<Header> read_header(MshCursor& at) {
  if (at.word() != "$MeshFormat") return std::nullopt;
  const std::string_view version = at.word();
  const std::string_view type = at.word();
  const std::string_view size = at.word();
  const bool is_known = (version == "4.1" || version == "2.2") && size == "8";
  if (!is_known || (type != "0" && type != "1")) return std::nullopt;
  at.skip_line();
  const Header header{version == "4.1", type == "1"};
  at.set_binary(header.is_binary);
  if (header.is_binary && at.int32("the number 1 that tells the byte order") != 1) {
    return std::nullopt;
  }
  return header;
}

/// Reads one file, a section after the other.
class Reader {
 public:
  Reader(MshCursor& at, Header header, bool with_links)
      : at_(at), header_(header), with_links_(with_links) {}

  MshMesh read() {
    end_section("$MeshFormat");
    for (std::string_view name = at_.word(); !name.empty(); name = at_.word()) {
      if (name.front() != '$') {
        at_.enter("the file");
        at_.fail(fmt::format("expected the name of a section, such as $Nodes, got '{}'",
                             MshCursor::shown(name)));
      }
      read_section(std::string(name));
    }
    at_.enter("the file");
    if (!has_nodes_) at_.fail("there is no section $Nodes");
    if (!has_elements_) at_.fail("there is no section $Elements");
    for (std::size_t i = 0; i < found_.blocks.size() && header_.is_new; ++i) {
      const auto groups = groups_of_.find(entity_of_[i]);
      if (groups != groups_of_.end()) found_.blocks[i].groups = groups->second;
    }
    return std::move(found_);
  }

 private:
  using Entity = std::pair<std::int32_t, std::int32_t>;  // dim, tag

  void read_section(const std::string& name) {
    at_.enter(name);
    if (name == "$PhysicalNames") {
      read_names();
    } else if (name == "$Entities" && header_.is_new) {
      at_.skip_line();
      read_entities();
    } else if (name == "$Nodes") {
      if (std::exchange(has_nodes_, true)) at_.fail("there is a second section $Nodes");
      at_.skip_line();
      header_.is_new ? read_new_nodes() : read_old_nodes();
      nodes_.close(at_);
    } else if (name == "$Elements") {
      if (!has_nodes_) at_.fail("there is no section $Nodes before");
      has_elements_ = true;
      at_.skip_line();
      header_.is_new ? read_new_elements() : read_old_elements();
    } else if (name == "$Periodic" && with_links_) {
      if (!has_nodes_) at_.fail("there is no section $Nodes before");
      at_.skip_line();
      at_.set_binary(header_.is_binary && header_.is_new);  // else it is text
      read_links();
      at_.set_binary(header_.is_binary);
    } else {
      if (!at_.skip_past("$End" + name.substr(1))) at_.fail("the section has no end");
      return;
    }
    end_section(name);
  }

  void end_section(const std::string& name) {
    const std::string_view found = at_.word();
    if (found != "$End" + name.substr(1)) {
      at_.enter(name);
      at_.fail(fmt::format("expected $End{}, got '{}'", MshCursor::shown(name).substr(1),
                           MshCursor::shown(found)));
    }
  }

  // Names are text in binary files, too.
  void read_names() {
    at_.set_binary(false);
    const std::int64_t n = at_.count("the number of names", 3);
    for (std::int64_t i = 0; i < n; ++i) {
      MshName name;
      name.dim = at_.int32("the dimension of a physical group");
      name.group = at_.int32("the number of a physical group");
      name.name = at_.quoted("the name of a physical group");
      found_.names.push_back(std::move(name));
    }
    at_.set_binary(header_.is_binary);
  }

  void read_entities() {
    std::array<std::int64_t, 4> n{};
    for (std::int64_t& one : n) one = at_.count("a number of entities", 5);
    for (std::int32_t dim = 0; dim < 4; ++dim) {
      for (std::int64_t i = 0; i < n.at(static_cast<std::size_t>(dim)); ++i) {
        const std::int32_t tag = at_.int32("the tag of an entity");
        for (int k = 0; k < (dim == 0 ? 3 : 6); ++k) {
          static_cast<void>(at_.real("a coordinate of an entity"));
        }
        std::vector<std::int32_t> groups;
        const std::int64_t n_groups = at_.count("a number of physical groups", 1);
        for (std::int64_t k = 0; k < n_groups; ++k) {
          groups.push_back(read_group());
        }
        const std::int64_t n_sides = dim == 0 ? 0 : at_.count("a number of bounding entities", 1);
        for (std::int64_t k = 0; k < n_sides; ++k) {
          static_cast<void>(at_.int32("a bounding entity"));
        }
        if (!groups.empty()) groups_of_[{dim, tag}] = std::move(groups);
      }
    }
  }

  // Negative where the group has the entity turned around.
  std::int32_t read_group() {
    const std::int32_t group = at_.int32("a physical group");
    if (group == std::numeric_limits<std::int32_t>::min()) at_.fail("no group has this number");
    return std::abs(group);
  }

  void read_new_nodes() {
    const std::int64_t n_blocks = at_.count("the number of blocks", 4);
    const std::int64_t n_nodes = at_.count("the number of nodes", 4);
    static_cast<void>(at_.int64("the least tag"));
    static_cast<void>(at_.int64("the greatest tag"));
    nodes_.reserve(n_nodes);
    found_.points.reserve(static_cast<std::size_t>(n_nodes) * 3);
    for (std::int64_t block = 0; block < n_blocks; ++block) {
      const std::int32_t dim = at_.int32("the dimension of a block");
      static_cast<void>(at_.int32("the entity of a block"));
      const std::int32_t parametric = at_.int32("whether nodes have parameters");
      const std::int64_t n = at_.count("the number of nodes of a block", 4);
      if (dim < 0 || dim > 3) at_.fail(fmt::format("the dimension of a block is {}", dim));
      for (std::int64_t i = 0; i < n; ++i) nodes_.add(at_.int64("the tag of a node"));
      for (std::int64_t i = 0; i < n; ++i) {
        add_point();
        for (int k = 0; k < (parametric != 0 ? dim : 0); ++k) {
          static_cast<void>(at_.real("a parameter of a node"));
        }
      }
    }
    if (found_.points.size() != static_cast<std::size_t>(n_nodes) * 3) {
      at_.fail(fmt::format("{} nodes are promised, the blocks have {}", n_nodes,
                           found_.points.size() / 3));
    }
  }

  void read_old_nodes() {
    const std::int64_t n = at_.count_in_text("the number of nodes", 4);
    if (header_.is_binary) at_.skip_line();
    nodes_.reserve(n);
    found_.points.reserve(static_cast<std::size_t>(n) * 3);
    for (std::int64_t i = 0; i < n; ++i) {
      nodes_.add(at_.int32("the tag of a node"));
      add_point();
    }
  }

  void add_point() {
    for (int k = 0; k < 3; ++k) found_.points.push_back(at_.real("a coordinate of a node"));
  }

  void read_new_elements() {
    const std::int64_t n_blocks = at_.count("the number of blocks", 4);
    const std::int64_t n_elements = at_.count("the number of elements", 2);
    static_cast<void>(at_.int64("the least tag"));
    static_cast<void>(at_.int64("the greatest tag"));
    std::int64_t n_found = 0;
    for (std::int64_t i = 0; i < n_blocks; ++i) {
      const std::int32_t dim = at_.int32("the dimension of a block");
      const std::int32_t entity = at_.int32("the entity of a block");
      const Kind& kind = kind_of(at_.int32("the type of a block"), at_);
      const std::int64_t n = at_.count("the number of elements of a block", kind.n_nodes + 1);
      MshBlock block{std::string(kind.name), kind.n_nodes, {}, {}, {}};
      block.nodes.reserve(static_cast<std::size_t>(n * kind.n_nodes));
      for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t element = at_.int64("the tag of an element");
        for (int node = 0; node < kind.n_nodes; ++node) {
          add_node(block, at_.int64("a node of an element"), element);
        }
      }
      found_.blocks.push_back(std::move(block));
      entity_of_.emplace_back(dim, entity);
      n_found += n;
    }
    check_n_elements(n_elements, n_found);
  }

  void read_old_elements() {
    const std::int64_t n = at_.count_in_text("the number of elements", 3);
    if (header_.is_binary) at_.skip_line();
    std::map<int, std::size_t> block_of;  // by type
    std::int64_t n_found = 0;
    while (n_found < n) {
      std::int32_t element = header_.is_binary ? 0 : at_.int32("the tag of an element");
      const std::int32_t type = at_.int32("the type of an element");
      const Kind& kind = kind_of(type, at_);
      const std::int64_t n_here = header_.is_binary ? at_.int32("a number of elements") : 1;
      const std::int32_t n_tags = at_.int32("the number of tags of an element");
      if (n_here < 1 || n_tags < 0) {
        at_.fail(fmt::format("{} elements with {} tags each", n_here, n_tags));
      }
      const auto [place, is_new] = block_of.try_emplace(type, found_.blocks.size());
      if (is_new) found_.blocks.push_back({std::string(kind.name), kind.n_nodes, {}, {}, {}});
      MshBlock& block = found_.blocks[place->second];
      for (std::int64_t i = 0; i < n_here; ++i) {
        if (header_.is_binary) element = at_.int32("the tag of an element");
        std::int32_t group = 0;  // the first tag; what follows is the entity, and partitions
        for (std::int32_t k = 0; k < n_tags; ++k) {
          const std::int32_t tag = k == 0 ? read_group() : at_.int32("a tag of an element");
          if (k == 0) group = tag;
        }
        block.group_of.push_back(group);
        for (int node = 0; node < kind.n_nodes; ++node) {
          add_node(block, at_.int32("a node of an element"), element);
        }
      }
      n_found += n_here;
    }
    check_n_elements(n, n_found);
  }

  void read_links() {
    const std::int64_t n = header_.is_new ? at_.count("the number of links", 3)
                                          : at_.count_in_text("the number of links", 3);
    for (std::int64_t i = 0; i < n; ++i) {
      MshLink link;
      link.dim = at_.int32("the dimension of an entity");
      static_cast<void>(at_.int32("the tag of an entity"));
      static_cast<void>(at_.int32("the tag of its master"));
      skip_map();
      const std::int64_t n_pairs = at_.count("a number of pairs of nodes", 2);
      for (std::int64_t k = 0; k < 2 * n_pairs; ++k) {
        const std::int64_t tag = at_.int64("a node of a pair");
        const std::int32_t row = nodes_.row(tag);
        if (row < 0) at_.fail(fmt::format("a pair names node {}, which is not listed", tag));
        link.nodes.push_back(row);
      }
      found_.links.push_back(std::move(link));
    }
  }

  // The map from one side to the other; the pairs say the same.
  void skip_map() {
    if (header_.is_new) {
      const std::int64_t n = at_.count("the size of a map", 1);
      for (std::int64_t i = 0; i < n; ++i) static_cast<void>(at_.real("a number of a map"));
      return;
    }
    MshCursor ahead = at_;
    if (ahead.word() == "Affine") {
      ahead.skip_line();
      at_ = ahead;
    }
  }

  void add_node(MshBlock& block, std::int64_t tag, std::int64_t element) const {
    const std::int32_t row = nodes_.row(tag);
    if (row < 0) {
      at_.fail(fmt::format("element {} names node {}, which $Nodes does not list", element, tag));
    }
    block.nodes.push_back(row);
  }

  void check_n_elements(std::int64_t promised, std::int64_t n) const {
    if (promised != n) {
      at_.fail(fmt::format("{} elements are promised, there are {}", promised, n));
    }
  }

  MshCursor& at_;
  Header header_;
  bool with_links_;
  MshMesh found_;
  Nodes nodes_;
  bool has_nodes_ = false;
  bool has_elements_ = false;
  std::map<Entity, std::vector<std::int32_t>> groups_of_;
  std::vector<Entity> entity_of_;  // [n_blocks]
};

}  // namespace

bool is_readable_msh(std::span<const char> data) {
  MshCursor at(data);
  try {
    return read_header(at).has_value() && !MshCursor(data).skip_past("$PartitionedEntities");
  } catch (const MeshFileError&) {
    return true;  // it ends too early, which read_msh says
  }
}

MshMesh read_msh(std::span<const char> data, bool with_links) {
  MshCursor at(data);
  const std::optional<Header> header = read_header(at);
  if (!header) {
    at.fail("expected $MeshFormat, version 2.2 or 4.1, numbers of 8 bytes in this byte order");
  }
  return Reader(at, *header, with_links).read();
}

}  // namespace op2::mesh
