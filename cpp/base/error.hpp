// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace op2 {

/// @brief Root of everything the core throws. Mapped to Python once, in bind/.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @brief The caller is wrong.
class UsageError : public Error {
  using Error::Error;
};

/// @brief A host-device copy was needed where implicit copies are forbidden.
class TransferError : public UsageError {
  using UsageError::UsageError;
};

/// @brief A file holds no readable mesh.
class MeshFileError : public UsageError {
  using UsageError::UsageError;
};

/// @brief The backend or strategy does not support the request.
class UnsupportedError : public Error {
  using Error::Error;
};

/// @brief A compiler or another outside tool failed.
class ToolchainError : public Error {
 public:
  /// @brief An error about a command; texts may be empty.
  ToolchainError(const std::string& message, std::string command, std::string stderr_text,
                 std::string source_path)
      : Error(message),
        command_(std::move(command)),
        stderr_text_(std::move(stderr_text)),
        source_path_(std::move(source_path)) {}

  /// @brief The command line; empty if none could be run.
  [[nodiscard]] const std::string& command() const { return command_; }
  /// @brief The output of the command.
  [[nodiscard]] const std::string& stderr_text() const { return stderr_text_; }
  /// @brief The source, kept for a look; empty if there is none.
  [[nodiscard]] const std::string& source_path() const { return source_path_; }

 private:
  std::string command_;
  std::string stderr_text_;
  std::string source_path_;
};

/// @brief A compiler ran and rejected the source.
class CompilationError : public ToolchainError {
  using ToolchainError::ToolchainError;
};

/// @brief A loop failed during a run.
class ExecutionError : public Error {
  using Error::Error;
};

/// @brief A device has not as much memory as a loop needs there.
class OutOfMemoryError : public ExecutionError {
  using ExecutionError::ExecutionError;
};

/// @brief We are wrong.
class InternalError : public Error {
  using Error::Error;
};

}  // namespace op2
