// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace op2::runtime::opencl {

/// The used part of OpenCL 1.2, declared here: building needs no vendor's header, and running needs
/// the library only once a device is asked for.

struct PlatformHandle;
struct DeviceHandle;
struct ContextHandle;
struct QueueHandle;
struct MemoryHandle;
struct ProgramHandle;
struct KernelHandle;
struct EventHandle;

using Platform = PlatformHandle*;
using DeviceId = DeviceHandle*;
using Context = ContextHandle*;
using Queue = QueueHandle*;
using Memory = MemoryHandle*;
using ProgramId = ProgramHandle*;
using KernelId = KernelHandle*;
using Event = EventHandle*;
using Status = std::int32_t;
using Flags = std::uint64_t;
using Count = std::uint32_t;

namespace code {
constexpr Status success = 0;
constexpr Status device_not_found = -1;
constexpr Status allocation_failure = -4;
constexpr Status out_of_resources = -5;
constexpr Status out_of_host_memory = -6;
constexpr Status build_failure = -11;
constexpr Status invalid_buffer_size = -61;
constexpr Status no_platform = -1001;
}  // namespace code

namespace query {
constexpr Count platform_version = 0x0901;
constexpr Count platform_name = 0x0902;
constexpr Count device_type = 0x1000;
constexpr Count max_compute_units = 0x1002;
constexpr Count max_work_group_size = 0x1004;
constexpr Count double_config = 0x1032;
constexpr Count largest_buffer = 0x1010;
constexpr Count global_memory = 0x101F;
constexpr Count local_memory = 0x1023;
constexpr Count compiler_available = 0x1028;
constexpr Count device_name = 0x102B;
constexpr Count driver_version = 0x102D;
constexpr Count device_version = 0x102F;
constexpr Count extensions = 0x1030;
constexpr Count c_version = 0x103D;
constexpr Count program_binary_sizes = 0x1165;
constexpr Count program_binaries = 0x1166;
constexpr Count build_log = 0x1183;
constexpr Count kernel_work_group_size = 0x11B0;
constexpr Count event_status = 0x11D3;
constexpr Count command_queued = 0x1280;
constexpr Count command_start = 0x1282;
constexpr Count command_end = 0x1283;
}  // namespace query

constexpr Flags all_device_types = 0xFFFFFFFF;
constexpr Flags cpu_device_type = 1U << 1;
constexpr Flags gpu_device_type = 1U << 2;
constexpr Flags read_write_memory = 1U << 0;
constexpr Count part_by_region = 0x1220;  ///< of create_part, with an offset and a size in bytes
constexpr Flags profiling_queue = 1U << 1;

/// @brief The entry points of the ICD loader. Never unloaded: threads of vendors' libraries would
/// wake in unmapped memory.
struct Api {
  Status (*get_platforms)(Count, Platform*, Count*);
  Status (*platform_info)(Platform, Count, std::size_t, void*, std::size_t*);
  Status (*get_devices)(Platform, Flags, Count, DeviceId*, Count*);
  Status (*device_info)(DeviceId, Count, std::size_t, void*, std::size_t*);
  Context (*create_context)(const std::intptr_t*, Count, const DeviceId*,
                            void (*)(const char*, const void*, std::size_t, void*), void*, Status*);
  Status (*release_context)(Context);
  Queue (*create_queue)(Context, DeviceId, Flags, Status*);
  Status (*release_queue)(Queue);
  Memory (*create_buffer)(Context, Flags, std::size_t, void*, Status*);
  Memory (*create_part)(Memory, Flags, Count, const void*, Status*);
  Status (*release_memory)(Memory);
  Status (*write_buffer)(Queue, Memory, Count, std::size_t, std::size_t, const void*, Count,
                         const Event*, Event*);
  Status (*read_buffer)(Queue, Memory, Count, std::size_t, std::size_t, void*, Count, const Event*,
                        Event*);
  Status (*copy_buffer)(Queue, Memory, Memory, std::size_t, std::size_t, std::size_t, Count,
                        const Event*, Event*);
  Status (*fill_buffer)(Queue, Memory, const void*, std::size_t, std::size_t, std::size_t, Count,
                        const Event*, Event*);
  Status (*launch)(Queue, KernelId, Count, const std::size_t*, const std::size_t*,
                   const std::size_t*, Count, const Event*, Event*);
  Status (*flush)(Queue);
  Status (*finish)(Queue);
  ProgramId (*create_program_with_source)(Context, Count, const char**, const std::size_t*,
                                          Status*);
  ProgramId (*create_program_with_binary)(Context, Count, const DeviceId*, const std::size_t*,
                                          const unsigned char**, Status*, Status*);
  Status (*build_program)(ProgramId, Count, const DeviceId*, const char*,
                          void (*)(ProgramId, void*), void*);
  Status (*program_info)(ProgramId, Count, std::size_t, void*, std::size_t*);
  Status (*build_info)(ProgramId, DeviceId, Count, std::size_t, void*, std::size_t*);
  Status (*release_program)(ProgramId);
  KernelId (*create_kernel)(ProgramId, const char*, Status*);
  Status (*release_kernel)(KernelId);
  Status (*set_argument)(KernelId, Count, std::size_t, const void*);
  Status (*kernel_info)(KernelId, DeviceId, Count, std::size_t, void*, std::size_t*);
  Status (*event_info)(Event, Count, std::size_t, void*, std::size_t*);
  Status (*event_profile)(Event, Count, std::size_t, void*, std::size_t*);
  Status (*retain_event)(Event);
  Status (*release_event)(Event);
};

/// @brief Find the ICD loader, libOpenCL.so.1.
/// @throws ToolchainError with the searched names and the package to install.
[[nodiscard]] std::shared_ptr<const Api> load_api();

/// @brief A device and its platform.
struct FoundDevice {
  Platform platform;
  DeviceId id;
};

/// @brief All devices of all platforms, in the loader's order.
/// @throws ToolchainError if no platform is installed, or none of them has a device.
[[nodiscard]] std::vector<FoundDevice> find_devices(const Api& api);

/// @brief Number @p index of find_devices().
/// @throws ToolchainError as find_devices() does. @throws UsageError if there are fewer.
[[nodiscard]] FoundDevice device_number(const Api& api, int index);

/// @brief The log of the last build of @p program.
[[nodiscard]] std::string build_log(const Api& api, ProgramId program, DeviceId device);

/// @brief The driver's output for @p program on its only device.
[[nodiscard]] std::string binary_of(const Api& api, ProgramId program);

/// @brief A property in text form.
[[nodiscard]] std::string text_of(const Api& api, DeviceId device, Count property);
[[nodiscard]] std::string text_of(const Api& api, Platform platform, Count property);

/// @brief The name of a status: "CL_OUT_OF_RESOURCES"; the number of an unknown status.
[[nodiscard]] std::string status_name(Status status);

/// @brief Throw ExecutionError with the @p call and the failure, unless @p status is success.
void check(Status status, const char* call);

/// @brief Owner of one OpenCL object.
template <class Handle>
class Owned {
 public:
  using Release = Status (*)(Handle);
  Owned() = default;
  Owned(Handle handle, Release release) : handle_(handle), release_(release) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : handle_(other.handle_), release_(other.release_) {
    other.handle_ = nullptr;
  }
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = other.handle_;
      release_ = other.release_;
      other.handle_ = nullptr;
    }
    return *this;
  }
  ~Owned() { reset(); }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  void reset() {
    if (handle_ != nullptr) release_(handle_);
    handle_ = nullptr;
  }
  Handle handle_ = nullptr;
  Release release_ = nullptr;
};

}  // namespace op2::runtime::opencl
