// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/threads.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/small_file.hpp"

namespace op2::runtime {
namespace {

/// A line of /proc/self/mountinfo that mounts a control group hierarchy.
struct Mount {
  std::string group_root;  // the group that is mounted
  std::string point;
  std::string type;     // cgroup or cgroup2
  std::string options;  // of the hierarchy: its controllers, for v1
};

bool lists(std::string_view comma_separated, std::string_view name) {
  while (!comma_separated.empty()) {
    const std::size_t end = std::min(comma_separated.find(','), comma_separated.size());
    if (comma_separated.substr(0, end) == name) return true;
    comma_separated.remove_prefix(std::min(end + 1, comma_separated.size()));
  }
  return false;
}

/// A place below a folder, whether either has a slash at its ends.
std::string below(std::string folder, std::string_view place) {
  while (folder.ends_with('/')) folder.pop_back();
  while (place.starts_with('/')) place.remove_prefix(1);
  return place.empty() ? folder : folder + "/" + std::string(place);
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<double> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return static_cast<double>(value);
}

std::vector<Mount> cgroup_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  for (const std::string& line : split(text_of_file(below(root, "proc/self/mountinfo")), "\n")) {
    // proc(5): id parent device root point options [fields…] - type source superoptions
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> before = split(line.substr(0, dash), " ");
    const std::vector<std::string> after = split(line.substr(dash + 3), " ");
    if (before.size() < 5 || after.empty()) continue;
    Mount mount{before[3], before[4], after[0], after.size() > 2 ? after[2] : ""};
    if (mount.type == "cgroup" || mount.type == "cgroup2") mounts.push_back(std::move(mount));
  }
  return mounts;
}

/// Directory of @p group in @p mount, as this process sees it.
std::string group_directory(const std::string& root, const Mount& mount, std::string group) {
  // In a container the mounted group is usually the process's own, or an ancestor of it.
  if (mount.group_root != "/" && group.starts_with(mount.group_root)) {
    group.erase(0, mount.group_root.size());
  }
  return below(below(root, mount.point), group);
}

std::optional<double> quota_v2(const std::string& directory) {
  const std::vector<std::string> words = split(text_of_file(below(directory, "cpu.max")), " \n");
  if (words.size() < 2) return std::nullopt;
  const std::optional<double> quota = number(words[0]);  // none: "max"
  const std::optional<double> period = number(words[1]);
  if (!quota || !period || *period <= 0.0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> quota_v1(const std::string& directory) {
  const std::optional<double> quota = number(text_of_file(below(directory, "cpu.cfs_quota_us")));
  const std::optional<double> period = number(text_of_file(below(directory, "cpu.cfs_period_us")));
  if (!quota || !period) return std::nullopt;
  if (*quota <= 0.0 || *period <= 0.0) return std::nullopt;  // -1: no limit
  return *quota / *period;
}

/// The tightest quota from @p group up to the mount point.
std::optional<double> tightest_quota(const std::string& root, const Mount& mount,
                                     const std::string& group) {
  std::optional<double> limit;
  const std::string top = below(root, mount.point);
  std::string directory = group_directory(root, mount, group);
  while (directory.size() >= top.size()) {
    const std::optional<double> quota =
        mount.type == "cgroup2" ? quota_v2(directory) : quota_v1(directory);
    if (quota) limit = std::min(limit.value_or(*quota), *quota);
    const std::size_t slash = directory.rfind('/');
    if (directory == top || slash == std::string::npos) break;
    directory.erase(slash);
  }
  return limit;
}

int cpus_in_affinity_mask() {
  // The kernel's mask may be wider than cpu_set_t; it says so with EINVAL.
  for (std::size_t n_sets = 1; n_sets <= 64; n_sets *= 2) {
    std::vector<cpu_set_t> mask(n_sets);
    const std::size_t n_bytes = n_sets * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, n_bytes, mask.data()) == 0) return CPU_COUNT_S(n_bytes, mask.data());
    if (errno != EINVAL) break;
  }
  return 1;
}

/// Whether OpenMP binds threads, this thread among them as soon as the run-time is loaded.
bool are_threads_bound() {
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr && *value != '\0' && std::string_view(value) != "false") return true;
  }
  return false;
}

/// The CPUs of the process when OpenMP's run-time was loaded; 0: none is.
int cpus_known_to_openmp() {
  int most = 0;
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libiomp5.so"}) {
    void* library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const auto count = reinterpret_cast<int (*)()>(::dlsym(library, "omp_get_num_procs"));
    if (count != nullptr) most = std::max(most, count());
    ::dlclose(library);
  }
  return most;
}

// State of the process, not of any object in it: a fork copies it, and the handler may only touch
// what is safe after fork.
std::atomic<bool> region_has_run = false;
std::atomic<bool> forked_after_region = false;

void after_fork_in_child() {
  if (region_has_run) forked_after_region = true;
}

}  // namespace

std::optional<double> cgroup_cpu_limit(const std::string& root) {
  const std::vector<Mount> mounts = cgroup_mounts(root);
  std::optional<double> limit;
  for (const std::string& line : split(text_of_file(below(root, "proc/self/cgroup")), "\n")) {
    // cgroups(7): hierarchy:controllers:group; no controllers means v2
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (!controllers.empty() && !lists(controllers, "cpu")) continue;
    for (const Mount& mount : mounts) {
      const bool is_this = controllers.empty()
                               ? mount.type == "cgroup2"
                               : mount.type == "cgroup" && lists(mount.options, "cpu");
      if (!is_this) continue;
      const std::optional<double> quota = tightest_quota(root, mount, group);
      if (quota) limit = std::min(limit.value_or(*quota), *quota);
    }
  }
  return limit;
}

int available_threads() {
  const int n_bound = are_threads_bound() ? cpus_known_to_openmp() : 0;
  const int n_cpus = std::max({cpus_in_affinity_mask(), n_bound, 1});
  const double limit = cgroup_cpu_limit("/").value_or(std::numeric_limits<int>::max());
  return std::clamp(static_cast<int>(std::ceil(std::min(limit, 1e6))), 1, n_cpus);
}

void note_parallel_region() {
  if (region_has_run.load(std::memory_order_relaxed)) return;
  // The first call decides; a second handler from a race would do no harm.
  if (!region_has_run.exchange(true)) ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

bool forked_after_parallel_region() {
  return forked_after_region.load(std::memory_order_relaxed);
}

}  // namespace op2::runtime
