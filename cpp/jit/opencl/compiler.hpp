// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jit/device_compiler.hpp"
#include "jit/opencl/api.hpp"

namespace op2::jit::opencl {

/// @brief The compiler inside the driver of one device.
class Compiler : public DeviceCompiler {
 public:
  Compiler(std::shared_ptr<const Api> api, const FoundDevice& device);

  [[nodiscard]] std::string identity() const override { return identity_; }
  [[nodiscard]] std::string suffix() const override { return ".cl"; }
  [[nodiscard]] std::string compile(const std::string& source,
                                    const std::vector<std::string>& options) override;

 private:
  std::shared_ptr<const Api> api_;
  FoundDevice device_;
  std::string identity_;
  Owned<Context> context_;
};

/// @brief What stands for a program where the driver keeps what it has compiled by itself: its
/// text, which it then knows.
///
/// PoCL compiles a kernel when it is first launched, for blocks of that size, and caches that.
/// Asked for a binary it compiles every kernel once more, for blocks of any size: 0.3 s of CPU time
/// each for code that runs more slowly.
struct KnownText {
  std::string options;
  std::string source;
};

/// @brief Bytes that known_text() tells from a binary.
[[nodiscard]] std::string bytes_of(const KnownText& text);

/// @brief The text in what Compiler::compile() returned; none if that is a binary.
[[nodiscard]] std::optional<KnownText> known_text(const std::string& bytes);

/// @brief The log of the last build of @p program.
[[nodiscard]] std::string build_log(const Api& api, ProgramId program, DeviceId device);

}  // namespace op2::jit::opencl
