// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "base/trace.hpp"
#include "runtime/opencl/api.hpp"
#include "runtime/opencl/context.hpp"
#include "runtime/opencl/known_text.hpp"
#include "runtime/opencl/memory_pool.hpp"
#include "runtime/ptx.hpp"

namespace op2::runtime::opencl {
namespace {

constexpr Count blocking = 1;
constexpr Count not_blocking = 0;

// An upload of at most this many bytes is copied aside instead of waiting for the queue.
constexpr std::int64_t staged_bytes_max = 1 << 16;

// Commands whose events are kept; beyond, those that are complete are let go.
constexpr std::size_t n_pending_max = 256;

// Drivers may hold commands back until they are told to start.
constexpr int launches_per_flush = 16;

template <class T>
T number_of(const Api& api, DeviceId device, Count property) {
  T value{};
  check(api.device_info(device, property, sizeof value, &value, nullptr), "clGetDeviceInfo");
  return value;
}

DeviceInfo describe(const Api& api, const FoundDevice& found) {
  DeviceInfo info;
  info.backend = "opencl";
  info.platform = text_of(api, found.platform, query::platform_name);
  info.name = text_of(api, found.id, query::device_name);
  info.driver = text_of(api, found.id, query::driver_version);
  info.capability = text_of(api, found.id, query::c_version);
  info.memory_bytes =
      static_cast<std::int64_t>(number_of<std::uint64_t>(api, found.id, query::global_memory));
  info.largest_bytes =
      static_cast<std::int64_t>(number_of<std::uint64_t>(api, found.id, query::largest_buffer));
  info.shared_bytes =
      static_cast<std::int64_t>(number_of<std::uint64_t>(api, found.id, query::local_memory));
  info.n_units =
      static_cast<int>(number_of<std::uint32_t>(api, found.id, query::max_compute_units));
  info.max_lanes =
      static_cast<int>(number_of<std::size_t>(api, found.id, query::max_work_group_size));
  std::uint64_t double_config = 0;  // devices without float64 may not know the question
  (void)api.device_info(found.id, query::double_config, sizeof double_config, &double_config,
                        nullptr);
  info.float64 = double_config != 0;
  // a simulator says that it is everything
  const auto type = number_of<std::uint64_t>(api, found.id, query::device_type);
  info.is_cpu = (type & cpu_device_type) != 0 && (type & gpu_device_type) == 0;
  return info;
}

Owned<KernelId> make_kernel(const Api& api, ProgramId program, const std::string& name) {
  Status status = code::success;
  Owned<KernelId> made(api.create_kernel(program, name.c_str(), &status), api.release_kernel);
  if (status != code::success) {
    throw InternalError(
        fmt::format("the program has no kernel '{}': {}", name, status_name(status)));
  }
  return made;
}

class OpenclKernel : public DeviceKernel {
 public:
  OpenclKernel(std::shared_ptr<const Api> api, std::string name, ProgramId program,
               Owned<KernelId> kernel, int max_lanes)
      : api_(std::move(api)),
        name_(std::move(name)),
        program_(program),
        kernel_(std::move(kernel)),
        max_lanes_(max_lanes) {}
  [[nodiscard]] int max_lanes() const override { return max_lanes_; }
  [[nodiscard]] KernelId id() const { return kernel_.get(); }

  /// @brief The same kernel with arguments of its own.
  [[nodiscard]] Owned<KernelId> another() const { return make_kernel(*api_, program_, name_); }

 private:
  std::shared_ptr<const Api> api_;
  std::string name_;
  ProgramId program_;  // which has this
  Owned<KernelId> kernel_;
  int max_lanes_;
};

/// Commands that are ready to be enqueued again. Each launch has a kernel object of its own, whose
/// arguments are set once, and which nobody else changes.
class BoundCommands : public Recording {
 public:
  using Command = std::function<void()>;

  [[nodiscard]] std::uintptr_t native() const override { return 0; }  // the vendor knows nothing
  void add(Command command) { commands_.push_back(std::move(command)); }
  void enqueue() const {
    for (const Command& command : commands_) command();
  }

 private:
  std::vector<Command> commands_;
};

class OpenclProgram : public Program {
 public:
  OpenclProgram(std::shared_ptr<const Api> api, std::shared_ptr<MemoryPool> pool, DeviceId device,
                Owned<ProgramId> program)
      : api_(std::move(api)),
        pool_(std::move(pool)),
        device_(device),
        program_(std::move(program)) {}

  [[nodiscard]] DeviceKernel& kernel(const std::string& name) override {
    const std::scoped_lock guard(mutex_);
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return *known->second;
    Owned<KernelId> made = make_kernel(*api_, program_.get(), name);
    std::size_t lanes = 1;
    check(api_->kernel_info(made.get(), device_, query::kernel_work_group_size, sizeof lanes,
                            &lanes, nullptr),
          "clGetKernelWorkGroupInfo");
    auto kernel = std::make_unique<OpenclKernel>(api_, name, program_.get(), std::move(made),
                                                 static_cast<int>(lanes));
    return *kernels_.emplace(name, std::move(kernel)).first->second;
  }

 private:
  std::shared_ptr<const Api> api_;
  std::shared_ptr<MemoryPool> pool_;  // owns the context
  DeviceId device_;
  Owned<ProgramId> program_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<OpenclKernel>> kernels_;
};

/// A command that may still run.
struct Pending {
  Owned<Event> event;
  std::string loop;                     // empty: a copy
  std::unique_ptr<std::byte[]> staged;  // what an upload reads
};

/// Launches between which nothing else was enqueued: from the start of the first to the end of the
/// last. Needs a queue that keeps time.
class OpenclSpan : public DeviceSpan {
 public:
  explicit OpenclSpan(std::shared_ptr<const Api> api) : api_(std::move(api)) {}

  void add(Event event) {
    if (api_->retain_event(event) != code::success) return;
    if (first_.get() == nullptr) {
      enqueued_ = trace_clock();
      (void)api_->retain_event(event);
      first_ = Owned<Event>(event, api_->release_event);
    }
    last_ = Owned<Event>(event, api_->release_event);
  }

  [[nodiscard]] std::optional<Interval> measured() override {
    const auto queued = time(first_.get(), query::command_queued);
    const auto start = time(first_.get(), query::command_start);
    const auto end = time(last_.get(), query::command_end);
    if (!queued || !start || !end) return std::nullopt;
    // the two clocks meet where the host enqueues
    return Interval{enqueued_ + *start - *queued, *end - *start};
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> time(Event event, Count which) const {
    std::uint64_t found = 0;
    if (event == nullptr ||
        api_->event_profile(event, which, sizeof found, &found, nullptr) != code::success) {
      return std::nullopt;
    }
    return static_cast<std::int64_t>(found);
  }

  std::shared_ptr<const Api> api_;
  Owned<Event> first_;
  Owned<Event> last_;
  std::int64_t enqueued_ = 0;
};

class OpenclDevice : public Device {
 public:
  OpenclDevice(std::shared_ptr<const Api> api, const FoundDevice& found)
      : api_(std::move(api)),
        id_(found.id),
        info_(describe(*api_, found)),
        pool_(std::make_shared<MemoryPool>(api_, context_of(api_, found),
                                           MemoryLimits{info_.memory_bytes, info_.largest_bytes},
                                           "OpenCL device '" + info_.name + "'")) {
    queue_ = make_queue(0);
  }
  OpenclDevice(const OpenclDevice&) = delete;
  OpenclDevice& operator=(const OpenclDevice&) = delete;
  ~OpenclDevice() override { (void)api_->finish(queue_.get()); }

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] std::string name() const override { return "OpenCL device '" + info_.name + "'"; }

  [[nodiscard]] std::shared_ptr<void> allocate(std::int64_t n_bytes,
                                               std::string_view what) override {
    return pool_->allocate(n_bytes, what);
  }

  /// A buffer of the driver over the same memory, for commands in the order of the queue.
  [[nodiscard]] std::shared_ptr<void> part_of(const std::shared_ptr<void>& whole,
                                              std::int64_t offset, std::int64_t n_bytes) override {
    const std::array<std::size_t, 2> region{size(offset), size(n_bytes)};
    Status status = code::success;
    const Memory part = api_->create_part(static_cast<Memory>(whole.get()), read_write_memory,
                                          part_by_region, region.data(), &status);
    check(status, "clCreateSubBuffer");
    return {part, [api = api_, whole](void* handle) {
              (void)api->release_memory(static_cast<Memory>(handle));
            }};
  }

  void limit_memory(std::int64_t n_bytes) override { pool_->limit(n_bytes); }

  void upload(void* to, std::int64_t to_offset, const void* from, std::int64_t n_bytes) override {
    if (n_bytes == 0) return;
    const std::scoped_lock guard(mutex_);
    Pending pending;
    const bool is_staged = n_bytes <= staged_bytes_max;
    if (is_staged) {
      const auto* start = static_cast<const std::byte*>(from);
      pending.staged = std::make_unique_for_overwrite<std::byte[]>(size(n_bytes));
      std::copy(start, start + n_bytes, pending.staged.get());
      from = pending.staged.get();
    }
    Event event = nullptr;
    after(api_->write_buffer(queue_.get(), static_cast<Memory>(to),
                             is_staged ? not_blocking : blocking, size(to_offset), size(n_bytes),
                             from, 0, nullptr, is_staged ? &event : nullptr),
          "clEnqueueWriteBuffer");
    if (!is_staged) return;
    pending.event = Owned<Event>(event, api_->release_event);
    note(std::move(pending));
  }

  void download(void* to, const void* from, std::int64_t from_offset,
                std::int64_t n_bytes) override {
    const std::scoped_lock guard(mutex_);
    if (n_bytes == 0) return wait();
    const Status status =
        api_->read_buffer(queue_.get(), static_cast<Memory>(const_cast<void*>(from)), blocking,
                          size(from_offset), size(n_bytes), to, 0, nullptr, nullptr);
    settle(status);
  }

  void copy(void* to, std::int64_t to_offset, const void* from, std::int64_t from_offset,
            std::int64_t n_bytes) override {
    if (n_bytes == 0) return;
    if (BoundCommands* kept = recording_here()) {
      return kept->add([=, this] { copy(to, to_offset, from, from_offset, n_bytes); });
    }
    const std::scoped_lock guard(mutex_);
    after(api_->copy_buffer(queue_.get(), static_cast<Memory>(const_cast<void*>(from)),
                            static_cast<Memory>(to), size(from_offset), size(to_offset),
                            size(n_bytes), 0, nullptr, nullptr),
          "clEnqueueCopyBuffer");
  }

  void zero(void* memory, std::int64_t offset, std::int64_t n_bytes) override {
    if (n_bytes == 0) return;
    if (BoundCommands* kept = recording_here()) {
      return kept->add([=, this] { zero(memory, offset, n_bytes); });
    }
    const std::scoped_lock guard(mutex_);
    const unsigned char nothing = 0;
    after(api_->fill_buffer(queue_.get(), static_cast<Memory>(memory), &nothing, 1, size(offset),
                            size(n_bytes), 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
  }

  void set(void* memory, std::span<const std::byte> value) override {
    if (BoundCommands* kept = recording_here()) {
      return kept->add(
          [this, memory, bytes = std::vector(value.begin(), value.end())] { set(memory, bytes); });
    }
    const std::scoped_lock guard(mutex_);
    const std::size_t n = value.size() % 16 == 0 ? 16 : value.size() % 8 == 0 ? 8 : 4;
    for (std::size_t at = 0; at < value.size(); at += n) {
      after(api_->fill_buffer(queue_.get(), static_cast<Memory>(memory), value.data() + at, n, at,
                              n, 0, nullptr, nullptr),
            "clEnqueueFillBuffer");
    }
  }

  void finish() override {
    const std::scoped_lock guard(mutex_);
    wait();
  }

  [[nodiscard]] std::shared_ptr<Program> load(const std::string& binary) override {
    if (Owned<ProgramId> built = pool_->context().take(binary); built.get() != nullptr) {
      return std::make_shared<OpenclProgram>(api_, pool_, id_, std::move(built));
    }
    const auto text = known_text(binary);
    Owned<ProgramId> program = text ? from_text(text->source) : from_binary(binary);
    build(program.get(), text ? text->options : "");
    if (text && !keeps_programs(info_.platform)) {
      // a text from ahead of time: no compiler of ours has seen what the driver makes of it
      if (const auto kept = with_signs_kept(binary_of(*api_, program.get()))) {
        program = from_binary(*kept);
        build(program.get(), "");
      }
    }
    return std::make_shared<OpenclProgram>(api_, pool_, id_, std::move(program));
  }

  void start_clock() override {
    const std::scoped_lock guard(mutex_);
    if (n_clocks_++ == 0) change_queue(profiling_queue);
  }

  void stop_clock() override {
    const std::scoped_lock guard(mutex_);
    if (n_clocks_ > 0 && --n_clocks_ == 0) change_queue(0);
  }

  [[nodiscard]] std::unique_ptr<DeviceSpan> open_span() override {
    const std::scoped_lock guard(mutex_);
    return n_clocks_ == 0 ? nullptr : std::make_unique<OpenclSpan>(api_);
  }

  void launch(DeviceKernel& kernel, const Grid& grid, std::span<const LaunchArgument> arguments,
              const std::string& loop, DeviceSpan* span) override {
    auto& known = static_cast<OpenclKernel&>(kernel);
    if (BoundCommands* kept = recording_here()) {
      const auto own = std::make_shared<Owned<KernelId>>(known.another());
      bind(own->get(), arguments, loop);
      return kept->add([this, own, grid, &loop] {
        const std::scoped_lock guard(mutex_);
        enqueue(own->get(), grid, loop, nullptr);
      });
    }
    const std::scoped_lock guard(mutex_);  // a kernel's arguments are its state
    bind(known.id(), arguments, loop);
    enqueue(known.id(), grid, loop, span);
  }

  [[nodiscard]] bool can_record() const override { return true; }

  bool start_recording() override {
    const std::scoped_lock guard(recording_mutex_);
    if (recording_) return false;  // another thread records
    recording_ = std::make_unique<BoundCommands>();
    recorder_ = std::this_thread::get_id();
    return true;
  }

  std::unique_ptr<Recording> stop_recording() override {
    const std::scoped_lock guard(recording_mutex_);
    return std::move(recording_);
  }

  void replay(Recording& recording) override { static_cast<BoundCommands&>(recording).enqueue(); }

 private:
  /// What this thread's commands are kept in instead of being enqueued; null: they are.
  [[nodiscard]] BoundCommands* recording_here() {
    const std::scoped_lock guard(recording_mutex_);
    return recording_ && recorder_ == std::this_thread::get_id() ? recording_.get() : nullptr;
  }

  void bind(KernelId id, std::span<const LaunchArgument> arguments, const std::string& loop) const {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto index = static_cast<Count>(i);
      const Status status = std::visit(
          [this, id, index](const auto& value) {
            return api_->set_argument(id, index, sizeof value, &value);
          },
          arguments[i]);
      if (status != code::success) {
        throw InternalError(fmt::format("par_loop '{}': argument {} of {} of a kernel: {}", loop, i,
                                        arguments.size(), status_name(status)));
      }
    }
  }

  /// The queue is this thread's meanwhile.
  void enqueue(KernelId id, const Grid& grid, const std::string& loop, DeviceSpan* span) {
    const auto n_lanes = static_cast<std::size_t>(grid.n_lanes);
    const std::size_t n_all = static_cast<std::size_t>(grid.n_blocks) * n_lanes;
    Event event = nullptr;
    const Status status =
        api_->launch(queue_.get(), id, 1, nullptr, &n_all, &n_lanes, 0, nullptr, &event);
    if (status != code::success) {
      throw ExecutionError(
          fmt::format("par_loop '{}' cannot be launched on {}, {} blocks of {} lanes: {}", loop,
                      name(), grid.n_blocks, grid.n_lanes, status_name(status)));
    }
    if (span != nullptr) static_cast<OpenclSpan*>(span)->add(event);
    note({Owned<Event>(event, api_->release_event), loop, nullptr});
    if (++n_since_flush_ >= launches_per_flush) {
      n_since_flush_ = 0;
      (void)api_->flush(queue_.get());  // a failure comes back at the next wait
    }
  }

  void build(ProgramId program, const std::string& options) const {
    const Status status = api_->build_program(program, 1, &id_, options.c_str(), nullptr, nullptr);
    if (status == code::success) return;
    throw ToolchainError(fmt::format("{} does not load a compiled program: {}\n{}", name(),
                                     status_name(status), build_log(*api_, program, id_)),
                         "clBuildProgram", "", "");
  }

  [[nodiscard]] Owned<ProgramId> from_text(const std::string& source) const {
    const char* start = source.c_str();
    const std::size_t n_bytes = source.size();
    Status status = code::success;
    Owned<ProgramId> program(
        api_->create_program_with_source(pool_->context().get(), 1, &start, &n_bytes, &status),
        api_->release_program);
    check(status, "clCreateProgramWithSource");
    return program;
  }

  [[nodiscard]] Owned<ProgramId> from_binary(const std::string& binary) const {
    const auto* start = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t n_bytes = binary.size();
    Status of_binary = code::success;
    Status status = code::success;
    Owned<ProgramId> program(
        api_->create_program_with_binary(pool_->context().get(), 1, &id_, &n_bytes, &start,
                                         &of_binary, &status),
        api_->release_program);
    check(status, "clCreateProgramWithBinary");
    return program;
  }

  [[nodiscard]] Owned<Queue> make_queue(Flags properties) const {
    Status status = code::success;
    Owned<Queue> queue(api_->create_queue(pool_->context().get(), id_, properties, &status),
                       api_->release_queue);
    check(status, "clCreateCommandQueue");
    return queue;
  }

  /// A queue keeps time or does not for all its life, and only within one is there an order.
  void change_queue(Flags properties) {
    Owned<Queue> queue = make_queue(properties);
    wait();
    queue_ = std::move(queue);
  }

  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  /// After a command that is no loop: only a broken queue, hence an earlier loop, makes it fail.
  void after(Status status, const char* call) {
    if (status == code::success) return;
    settle(api_->finish(queue_.get()));
    check(status, call);
  }

  void note(Pending pending) {
    pending_.push_back(std::move(pending));
    while (pending_.size() > n_pending_max) {
      const Status status = status_of(pending_.front());
      if (status > 0) return;  // still to run, and so is all that follows
      if (status < 0 && fault_.empty()) blame(pending_.front(), status);
      pending_.pop_front();
    }
  }

  [[nodiscard]] Status status_of(const Pending& pending) const {
    Status status = 0;
    const Status asked =
        api_->event_info(pending.event.get(), query::event_status, sizeof status, &status, nullptr);
    return asked == code::success ? status : asked;
  }

  void blame(const Pending& pending, Status status) {
    const std::string who = pending.loop.empty() ? "a copy" : "par_loop '" + pending.loop + "'";
    fault_ = fmt::format("{} failed on {}: {}", who, name(), status_name(status));
  }

  void wait() { settle(api_->finish(queue_.get())); }

  /// After a wait that ended with @p status: everything is complete, or something failed.
  void settle(Status status) {
    for (const Pending& pending : pending_) {
      if (!fault_.empty()) break;
      const Status ended = status_of(pending);
      if (ended < 0) blame(pending, ended);
    }
    if (fault_.empty() && status != code::success) {
      const std::string last = pending_.empty() ? "" : pending_.back().loop;
      fault_ =
          fmt::format("{} failed: {}; the last loop was '{}'", name(), status_name(status), last);
    }
    pending_.clear();
    n_since_flush_ = 0;
    if (!fault_.empty()) throw ExecutionError(std::exchange(fault_, ""));
  }

  std::shared_ptr<const Api> api_;
  DeviceId id_;
  DeviceInfo info_;
  std::shared_ptr<MemoryPool> pool_;
  std::mutex mutex_;  // guards the queue, kernels' arguments and everything below
  Owned<Queue> queue_;
  std::deque<Pending> pending_;  // in order
  std::string fault_;            // of a command no longer pending
  int n_since_flush_ = 0;
  int n_clocks_ = 0;  // asked for

  std::mutex recording_mutex_;  // guards the following
  std::unique_ptr<BoundCommands> recording_;
  std::thread::id recorder_;
};

}  // namespace

std::vector<DeviceInfo> list_devices() {
  const std::shared_ptr<const Api> api = load_api();
  std::vector<DeviceInfo> found;
  for (const FoundDevice& device : find_devices(*api)) {
    found.push_back(describe(*api, device));
  }
  return found;
}

std::shared_ptr<Device> open_device(int index) {
  std::shared_ptr<const Api> api = load_api();
  const FoundDevice device = device_number(*api, index);
  return std::make_shared<OpenclDevice>(std::move(api), device);
}

}  // namespace op2::runtime::opencl
