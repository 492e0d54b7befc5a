// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "runtime/gpu/devices.hpp"
#include "runtime/gpu/program.hpp"

namespace op2::runtime::gpu {
namespace {

constexpr std::size_t most_arguments = 512;  // 4 kB, the least that every GPU takes

DeviceAddress address(const void* handle, std::int64_t offset) {
  return static_cast<DeviceAddress>(reinterpret_cast<std::uintptr_t>(handle)) +
         static_cast<DeviceAddress>(offset);
}

/// Whether the driver repeats @p result for ever once a kernel has caused it.
bool is_fault(Result result) {
  constexpr std::array faults = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  return std::ranges::find(faults, result) != faults.end();
}

/// Whether the driver copies from this host memory by itself later, and not before it returns.
bool is_page_locked(const Driver& driver, const void* memory) {
  unsigned type = 0;
  return driver.pointer_get_attribute(&type, pointer_memory_type, address(memory, 0)) == success &&
         type != 0;
}

/// The address of an argument's value, which both alternatives have 8 bytes for.
const void* value_of(const LaunchArgument& argument) {
  if (const auto* handle = std::get_if<void*>(&argument)) return handle;
  return std::get_if<std::int64_t>(&argument);
}

}  // namespace

Gpu::Gpu(const std::shared_ptr<const Driver>& driver, int index)
    : context_(std::make_shared<Context>(driver, index)),
      memory_(context_),
      staging_(context_),
      clock_(std::make_shared<Clock>(context_)),
      info_(list_devices(*driver).at(static_cast<std::size_t>(index))) {}

void Gpu::check_usable() const {
  context_->check_process();
  const std::lock_guard lock(mutex_);
  if (!loss_.empty()) {
    throw ExecutionError(fmt::format("{} is lost to this process since: {}", name(), loss_));
  }
}

void Gpu::lose(Result result) {
  const std::lock_guard lock(mutex_);
  if (loss_.empty()) {
    const std::string hint =
        in_flight_.is_certain()
            ? ""
            : fmt::format("; with {} in the environment the message names the one",
                          context_->driver().vendor.blocking);
    loss_ = fmt::format(
        "{} failed on {}: {}{}. The data on this GPU are lost, and this process cannot use it "
        "any more: restart it. debug=True checks indices before a kernel uses them",
        in_flight_.blame(), name(), describe(context_->driver(), result), hint);
  }
  throw ExecutionError(loss_);
}

void Gpu::check(Result result, std::string_view doing) {
  if (is_fault(result)) lose(result);
  context_->check(result, doing);
}

void Gpu::wait() {
  const auto count = [this] {
    const std::lock_guard lock(mutex_);
    return n_launches_;
  };
  const std::size_t n_before = count();
  const Result waited = context_->driver().stream_synchronize(context_->stream());
  // Whatever a wait fails with, a kernel did it.
  if (waited != success) lose(waited);
  const std::lock_guard lock(mutex_);
  if (n_launches_ == n_before) in_flight_.clear();
}

mesh::ExchangePlace Gpu::exchange_place() const {
  return {context_->driver().vendor.dlpack, context_->ordinal(),
          reinterpret_cast<std::uintptr_t>(context_->stream())};
}

void Gpu::wait_for_stream(std::uintptr_t stream) {
  check_usable();
  const Current current(*context_);
  check(context_->driver().stream_synchronize(reinterpret_cast<StreamHandle>(stream)),
        "wait for a stream of another library");
}

std::shared_ptr<void> Gpu::allocate(std::int64_t n_bytes, std::string_view what) {
  check_usable();
  return memory_.allocate(n_bytes, what);
}

void Gpu::upload(void* to, std::int64_t to_offset, const void* from, std::int64_t n_bytes) {
  check_usable();
  if (n_bytes == 0) return;
  const Driver& driver = context_->driver();
  const Current current(*context_);
  const DeviceAddress target = address(to, to_offset);
  const auto size = static_cast<std::size_t>(n_bytes);
  const bool is_locked = is_page_locked(driver, from);
  const Result copied = size >= Staging::least_bytes && !is_locked
                            ? staging_.upload(target, from, size)
                            : driver.memcpy_htod_async(target, from, size, context_->stream());
  check(copied, "copy to the GPU");
  // Of other memory, the driver has taken its own copy.
  if (is_locked) wait();
}

void Gpu::download(void* to, const void* from, std::int64_t from_offset, std::int64_t n_bytes) {
  check_usable();
  const Driver& driver = context_->driver();
  const Current current(*context_);
  if (n_bytes > 0) {
    const DeviceAddress source = address(from, from_offset);
    const auto size = static_cast<std::size_t>(n_bytes);
    const Result copied = size >= Staging::least_bytes && !is_page_locked(driver, to)
                              ? staging_.download(to, source, size)
                              : driver.memcpy_dtoh_async(to, source, size, context_->stream());
    check(copied, "copy from the GPU");
  }
  wait();
}

void Gpu::copy(void* to, std::int64_t to_offset, const void* from, std::int64_t from_offset,
               std::int64_t n_bytes) {
  check_usable();
  if (n_bytes == 0) return;
  const Current current(*context_);
  check(
      context_->driver().memcpy_dtod_async(address(to, to_offset), address(from, from_offset),
                                           static_cast<std::size_t>(n_bytes), stream_of_commands()),
      "copy within the GPU");
}

void Gpu::zero(void* memory, std::int64_t offset, std::int64_t n_bytes) {
  check_usable();
  if (n_bytes == 0) return;
  const Current current(*context_);
  check(context_->driver().memset_d8_async(address(memory, offset), 0,
                                           static_cast<std::size_t>(n_bytes), stream_of_commands()),
        "zero memory");
}

void Gpu::set(void* memory, std::span<const std::byte> value) {
  check_usable();
  const Current current(*context_);
  for (std::size_t at = 0; at < value.size(); at += sizeof(unsigned)) {
    unsigned word = 0;
    std::memcpy(&word, value.data() + at, sizeof(word));
    check(context_->driver().memset_d32_async(address(memory, static_cast<std::int64_t>(at)), word,
                                              1, stream_of_commands()),
          "set a number");
  }
}

void Gpu::finish() {
  check_usable();
  const Current current(*context_);
  wait();
}

std::shared_ptr<Program> Gpu::load(const std::string& binary) {
  check_usable();
  return std::make_shared<LoadedProgram>(context_, binary);
}

void Gpu::start_clock() {
  check_usable();
  check(clock_->start(), "start to measure");
}

/// A span's marks are in the stream before the first launch and after the last.
void Gpu::launch(DeviceKernel& kernel, const Grid& grid, std::span<const LaunchArgument> arguments,
                 const std::string& loop, DeviceSpan* /*span*/) {
  if (grid.n_blocks == 0) return;
  if (arguments.size() > most_arguments || grid.n_blocks < 0 ||
      grid.n_blocks > std::numeric_limits<std::int32_t>::max()) {
    throw UnsupportedError(fmt::format(
        "par_loop '{}': {} takes at most {} arguments a kernel and 2^31 - 1 blocks, got {} and {}",
        loop, name(), most_arguments, arguments.size(), grid.n_blocks));
  }
  check_usable();
  std::array<void*, most_arguments> values;  // written as far as read
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[i] = const_cast<void*>(value_of(arguments[i]));
  }
  const Place place = note_launch(loop);
  const Current current(*context_);
  const Result launched = enqueue(static_cast<Kernel&>(kernel), grid, values.data(), place);
  if (launched == success) return;
  check(launched, fmt::format("launch par_loop '{}' as {} blocks of {} lanes", loop, grid.n_blocks,
                              grid.n_lanes));
}

bool Gpu::lend_queue(const std::string& what, const QueueUser& use) {
  check_usable();
  static_cast<void>(note_launch(what));
  const Current current(*context_);
  use(command_stream());
  return true;
}

Gpu::Place Gpu::note_launch(const std::string& loop) {
  const std::lock_guard lock(mutex_);
  if (capture_ && capturing_ == std::this_thread::get_id()) {
    capture_->note(loop);
    return {capture_->stream(), capture_->is_next_in_order()};
  }
  in_flight_.add(loop);
  ++n_launches_;
  return {context_->stream(), true};
}

StreamHandle Gpu::stream_of_commands() {
  const std::lock_guard lock(mutex_);
  if (!capture_ || capturing_ != std::this_thread::get_id()) return context_->stream();
  capture_->note_command();
  return capture_->stream();
}

bool Gpu::can_record() const {
  return Capture::is_possible(context_->driver());
}

bool Gpu::start_recording() {
  if (!can_record()) return false;
  check_usable();
  const Current current(*context_);
  const std::lock_guard lock(mutex_);
  if (capture_) return false;  // another thread records
  auto capture = std::make_unique<Capture>(context_);
  if (!capture->begin()) return false;
  capture_ = std::move(capture);
  capturing_ = std::this_thread::get_id();
  return true;
}

bool Gpu::start_group(std::span<const std::size_t> after) {
  const Current current(*context_);
  const std::lock_guard lock(mutex_);
  if (!capture_ || capturing_ != std::this_thread::get_id()) return false;
  return capture_->start_group(after);
}

std::unique_ptr<Capture> Gpu::take_capture() {
  const std::lock_guard lock(mutex_);
  if (!capture_ || capturing_ != std::this_thread::get_id()) return nullptr;
  return std::move(capture_);
}

std::unique_ptr<Recording> Gpu::stop_recording() {
  const Current current(*context_);
  const std::unique_ptr<Capture> capture = take_capture();
  return capture ? capture->end() : nullptr;
}

std::string Gpu::start_repeating(const RepeatCondition& condition) {
  std::string lacks = Repetition::why_not(context_->driver());
  if (!lacks.empty()) return lacks;
  check_usable();
  const Current current(*context_);
  Decider decider;
  try {
    decider = {load(context_->driver().vendor.deciding_code),
               allocate(sizeof(std::uint32_t), "passes of a graph")};
    (void)decider.program->kernel("op2_decide");
  } catch (const Error& error) {  // this driver does not take the code
    return error.what();
  }
  auto capture = std::make_unique<Repetition>(context_, std::move(decider), condition);
  if (!capture->begin()) return capture->refusal();
  const std::lock_guard lock(mutex_);
  if (capture_) return "another thread records";
  capture_ = std::move(capture);
  capturing_ = std::this_thread::get_id();
  return "";
}

Repeated Gpu::stop_repeating() {
  const Current current(*context_);
  const std::unique_ptr<Capture> capture = take_capture();
  if (!capture) return {nullptr, "nothing is being recorded"};
  std::unique_ptr<Recording> made = capture->end();
  return {std::move(made), static_cast<const Repetition&>(*capture).refusal()};
}

void Gpu::repeat(Recording& recording, std::int64_t n_done) {
  // the condition is asked once before the first time
  const auto before = static_cast<std::uint32_t>(n_done - 1);
  set(static_cast<RepeatedRecording&>(recording).n_done(), std::as_bytes(std::span(&before, 1)));
  replay(recording);
}

std::int64_t Gpu::n_repeated(Recording& recording) {
  std::uint32_t n_done = 0;
  download(&n_done, static_cast<RepeatedRecording&>(recording).n_done(), 0, sizeof(n_done));
  return n_done;
}

void Gpu::replay(Recording& recording) {
  check_usable();
  auto& graph = static_cast<GraphRecording&>(recording);
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& loop : graph.loops()) in_flight_.add(loop);
    ++n_launches_;
  }
  const Current current(*context_);
  check(context_->driver().graph_launch(graph.handle(), context_->stream()), "launch a graph");
}

Result Gpu::enqueue(const Kernel& kernel, const Grid& grid, void** values, Place place) const {
  const auto n_blocks = static_cast<unsigned>(grid.n_blocks);
  const auto n_lanes = static_cast<unsigned>(grid.n_lanes);
  const auto n_bytes = static_cast<unsigned>(kernel.shared_bytes());
  const Driver& driver = context_->driver();
  const bool is_early = place.may_be_early && kernel.waits_by_itself();
  if (!is_early || driver.launch_kernel_ex == nullptr) {
    return driver.launch_kernel(kernel.function(), n_blocks, 1, 1, n_lanes, 1, 1, n_bytes,
                                place.stream, values, nullptr);
  }
  LaunchAttribute early{LaunchAttribute::programmatic_stream_serialization, 1};
  const LaunchConfig config{{n_blocks, 1, 1}, {n_lanes, 1, 1}, n_bytes, place.stream, &early, 1};
  return driver.launch_kernel_ex(&config, kernel.function(), values, nullptr);
}

}  // namespace op2::runtime::gpu
