// SPDX-License-Identifier: BSD-3-Clause
#include "jit/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "jit/file.hpp"

namespace op2::jit {
namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw ToolchainError(fmt::format("cannot open a pipe to a compiler: {}", std::strerror(errno)),
                         "", "", "");
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// posix_spawn's attribute and file-action objects, destroyed together.
class SpawnSetup {
 public:
  explicit SpawnSetup(int output_fd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output_fd, STDERR_FILENO);
    // Python ignores SIGPIPE, and an ignored signal stays ignored across exec.
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool replaced = std::ranges::any_of(changes, [text](const auto& change) {
      return text.starts_with(change.first) && text.substr(change.first.size()).starts_with('=');
    });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : changes) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const std::vector<std::string>& command,
            const std::vector<std::pair<std::string, std::string>>& environment, int output_fd) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = merged_environment(environment);
  const SpawnSetup setup(output_fd);
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, command.front().c_str(), setup.actions(), setup.attributes(),
                    pointers_to(arguments).data(), pointers_to(variables).data());
  if (failure != 0) {
    throw ToolchainError(
        fmt::format("cannot start {}: {}", command.front(), std::strerror(failure)),
        shell_text(command), "", "");
  }
  return child;
}

enum class PipeState { open, closed };

/// Append what the pipe holds to @p output, waiting at most @p timeout_ms for the first byte.
PipeState drain(int fd, int timeout_ms, std::string& output) {
  constexpr int max_chunks = 64;  // then look at the clock again, however much is still coming
  std::array<char, 8192> chunk{};
  pollfd request{fd, POLLIN, 0};
  for (int i = 0; i<max_chunks&& ::poll(&request, 1, timeout_ms)> 0; ++i) {
    const ssize_t n_read = ::read(fd, chunk.data(), chunk.size());
    if (n_read == 0) return PipeState::closed;
    if (n_read > 0) output.append(chunk.data(), static_cast<std::size_t>(n_read));
    timeout_ms = 0;
  }
  return PipeState::open;
}

/// The exit status of @p child if it has ended.
std::optional<int> reap(pid_t child, int options) {
  int status = 0;
  const pid_t answer = ::waitpid(child, &status, options);
  if (answer == child) return status;
  // A host program that ignores SIGCHLD leaves no status to collect; callers look at the output.
  if (answer < 0 && errno == ECHILD) return 0;
  return std::nullopt;
}

void kill_group(pid_t leader) {
  ::kill(-leader, SIGKILL);
  while (!reap(leader, 0)) {
  }
}

/// Wait for @p child, collecting its output; nothing if it took longer than allowed.
std::optional<int> wait_for(pid_t child, int pipe, const Patience& patience, std::string& output) {
  PipeState state = PipeState::open;
  Wait wait(patience);
  do {
    if (state == PipeState::open) {
      state = drain(pipe, 20, output);
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    // The pipe's end is not the child's: a wrapper may leave a server behind that holds it open.
    if (const std::optional<int> status = reap(child, WNOHANG)) {
      drain(pipe, 0, output);
      return status;
    }
  } while (wait.goes_on());
  return std::nullopt;
}

}  // namespace

std::string shell_text(const std::vector<std::string>& command) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:%@^";
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

ProcessResult run_process(const std::vector<std::string>& command,
                          const std::vector<std::pair<std::string, std::string>>& environment,
                          const Patience& patience) {
  Pipe pipe = open_pipe();
  const pid_t child = spawn(command, environment, pipe.write_end.get());
  pipe.write_end.reset();

  ProcessResult result;
  std::optional<int> status;
  try {
    status = wait_for(child, pipe.read_end.get(), patience, result.output);
  } catch (...) {
    kill_group(child);
    throw;
  }
  if (!status) {
    kill_group(child);
    result.timed_out = true;
  } else if (WIFSIGNALED(*status)) {
    result.signal = WTERMSIG(*status);
  } else {
    result.exit_code = WEXITSTATUS(*status);
  }
  return result;
}

}  // namespace op2::jit
