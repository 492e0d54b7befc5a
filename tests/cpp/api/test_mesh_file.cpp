// SPDX-License-Identifier: BSD-3-Clause
#include "api/mesh_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "api/recorded.hpp"
#include "base/error.hpp"

namespace op2 {
namespace {

namespace fs = std::filesystem;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string little(std::uint64_t value, int n) {
  std::string bytes;
  for (int i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xffU);
  return bytes;
}

/// A file of NumPy's.
class Archive {
 public:
  Archive& add(const std::string& name, const std::string& kind, const std::string& shape,
               const std::string& data, const std::string& order = "False", int method = 0) {
    std::string header =
        "{'descr': '" + kind + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
    const std::string content =
        std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header + data;
    const std::string crc = little(api::checksum_of(content), 4);
    const std::string sizes = little(content.size(), 4) + little(content.size(), 4);
    const std::string file = name + ".npy";
    const std::string about = little(static_cast<std::uint64_t>(method), 2) + little(0, 4) + crc +
                              sizes + little(file.size(), 2) + little(0, 2);
    directory_ += "PK\1\2" + little(20, 2) + little(20, 2) + little(0, 2) + about + little(0, 10) +
                  little(bytes_.size(), 4) + file;
    bytes_ += "PK\3\4" + little(20, 2) + little(0, 2) + about + file + content;
    ++n_;
    return *this;
  }
  [[nodiscard]] std::string whole() const {
    return bytes_ + directory_ + "PK\5\6" + little(0, 4) + little(n_, 2) + little(n_, 2) +
           little(directory_.size(), 4) + little(bytes_.size(), 4) + little(0, 2);
  }

 private:
  std::string bytes_;
  std::string directory_;
  std::uint64_t n_ = 0;
};

const std::vector<double> points = {0, 0, 1, 0, 1, 1, 0, 1};

Archive two_triangles(const std::vector<int>& cells = {0, 1, 2, 0, 2, 3}) {
  Archive file;
  file.add("cell_type", "|u1", "(1,)", "\x05")
      .add("points", "<f8", "(4, 2)", bytes_of(points))
      .add("cells", "<i4", "(2, 3)", bytes_of(cells))
      .add("values.u", "<f4", "(4,)", bytes_of(std::vector<float>{1, 2, 3, 4}))
      .add("cells.order", "<i8", "(2,)", bytes_of(std::vector<std::int64_t>{1, 0}))
      .add("names", "<U3", "(1,)", std::string(12, 'x'));
  return file;
}

class MeshFileTest : public ::testing::Test {
 protected:
  MeshFileTest() {
    std::string pattern = (fs::temp_directory_path() / "op2-mesh-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~MeshFileTest() override { fs::remove_all(folder_); }
  std::string written(const std::string& bytes) const {
    std::ofstream(folder_ / "mesh.npz", std::ios::binary) << bytes;
    return (folder_ / "mesh.npz").string();
  }
  std::string failure(const std::string& bytes) const {
    try {
      (void)read_mesh(written(bytes));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  fs::path folder_;
};

TEST_F(MeshFileTest, HoldsTheMeshAndWhatIsOnIt) {
  const MeshFile mesh = read_mesh(written(two_triangles().whole()));
  EXPECT_EQ(mesh.cell_type, 5);
  EXPECT_EQ(mesh.gdim, 2);
  EXPECT_EQ(mesh.arity, 3);
  EXPECT_EQ(mesh.n_vertices, 4);
  EXPECT_EQ(mesh.n_cells, 2);
  EXPECT_EQ(std::vector<double>(mesh.points.begin(), mesh.points.end()), points);
  EXPECT_EQ(std::vector<int>(mesh.cells.begin(), mesh.cells.end()),
            (std::vector<int>{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(mesh.reals("values.u")[3], 4.0);
  EXPECT_EQ(mesh.integers("cells.order")[0], 1);
  try {
    (void)mesh.integers("none");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'none' of this type; there are: cells.order"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(MeshFileTest, NoDamageIsRead) {
  const std::string whole = two_triangles().whole();
  for (std::size_t n = 0; n < whole.size(); n += 7) EXPECT_NE(failure(whole.substr(0, n)), "") << n;
  const MeshFile right = read_mesh(written(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    try {  // what says nothing of values, such as a date, may change
      const MeshFile found = read_mesh(written(changed));
      EXPECT_EQ(found.points, right.points) << at;
      EXPECT_EQ(found.cells, right.cells) << at;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("mesh.npz"), std::string::npos);
    }
  }
}

TEST_F(MeshFileTest, SaysWhatDoesNotFit) {
  const std::string four = bytes_of(points);
  const auto with = [&four](const char* name, const char* kind, const char* shape,
                            const std::string& data, const char* order = "False", int method = 0) {
    Archive file;
    if (std::string(name) != "cell_type") file.add("cell_type", "|u1", "(1,)", "\x05");
    if (std::string(name) != "points") file.add("points", "<f8", "(4, 2)", four);
    file.add(name, kind, shape, data, order, method);
    return file.whole();
  };
  const std::string rows = bytes_of(std::vector<int>{0, 1, 2});
  const auto expect = [this](const std::string& bytes, const std::string& words) {
    EXPECT_NE(failure(bytes).find(words), std::string::npos) << words << ": " << failure(bytes);
  };
  expect(with("other", "<i4", "(1, 3)", rows), "there is no array 'cells'");
  expect(with("cells", "<i4", "(3,)", rows), "'cells' must be an array of integers with 2 axes");
  expect(with("cells", "<f8", "(1, 1)", std::string(8, '\0')), "'cells' must be an array of");
  expect(with("cells", "<i4", "(1, 3)", rows, "True"), "lies column by column");
  expect(with("cells", "<i4", "(1, 3)", rows, "False", 8), "is compressed");
  expect(with("cells", "<i4", "(2, 3)", rows), "is cut short");
  expect(with("cells", "<i4", "(3, 1)", rows), "have 3 vertices and points of 2 to 3 numbers");
  expect(with("cells", "<i4", "(99999999999999999999, 3)", rows), "is cut short");
  expect(with("cells", "<i8", "(1, 3)", bytes_of(std::vector<std::int64_t>{0, 1, 1LL << 40})),
         "more than int");
  expect(two_triangles({0, 1, 2, 0, 2, 4}).whole(), "cell 1 names vertex 4; there are 0 to 3");
  expect("", "no archive of NumPy's");
  EXPECT_THROW((void)read_mesh((folder_ / "none.npz").string()), UsageError);
}

TEST_F(MeshFileTest, ResultsAreWrittenWhole) {
  const MeshFile mesh = read_mesh(written(two_triangles().whole()));
  const std::vector<double> flow(8, 2.0);
  const std::string path = (folder_ / "a.vtu").string();
  write_vtu(path, mesh, {{"a<b", flow}}, {{"p", std::span(flow).first(2)}});
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("NumberOfPoints=\"4\" NumberOfCells=\"2\""), std::string::npos);
  EXPECT_NE(text.find("Name=\"a&lt;b\" NumberOfComponents=\"3\""), std::string::npos);
  EXPECT_NE(text.find("Name=\"p\" NumberOfComponents=\"1\""), std::string::npos);
  EXPECT_THROW(write_vtu(path, mesh, {{"q", std::span(flow).first(3)}}), UsageError);
  EXPECT_THROW(write_vtu((folder_ / "none" / "a.vtu").string(), mesh, {}), UsageError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

}  // namespace
}  // namespace op2
