#include "dolium/bytes/guarded_map.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace dolium {
namespace guarded_map_internal {

std::atomic<int> maps_with_losses = 0;

namespace {

// One map. What the handler reads of it is atomic; `begin` is 0 while it is free.
struct GuardedMap {
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;  // of its last page
  std::atomic<bool> has_losses = false;

  bool Has(uintptr_t at) const {
    return at >= begin.load(std::memory_order_acquire) &&
           at < end.load(std::memory_order_acquire) && begin.load() != 0;
  }
};

// Maps in blocks that are never freed, so that the handler may walk them at any time.
struct MapBlock {
  std::array<GuardedMap, 64> maps;
  MapBlock* next = nullptr;
};

std::atomic<MapBlock*> first_block = nullptr;
// Who had the signal before. Never freed, for the same reason.
std::atomic<const struct sigaction*> previous_action = nullptr;
// The thread that is in the handler before: two that hand a signal to each other would do
// so for ever.
std::atomic<pid_t> thread_in_previous = 0;
std::atomic<uintptr_t> page_bytes = 0;

// For changes of the above, which the handler never makes.
struct Registry {
  std::mutex mutex;
  std::vector<GuardedMap*> free;
};
Registry& TheRegistry() {
  static auto* const registry = new Registry;  // outlives every map
  return *registry;
}

GuardedMap* FindMap(uintptr_t at) {
  for (MapBlock* block = first_block.load(std::memory_order_acquire); block != nullptr;
       block = block->next) {
    for (GuardedMap& map : block->maps) {
      if (map.Has(at)) return &map;
    }
  }
  return nullptr;
}

// Only calls that a signal handler may make.
bool PutZeros(uintptr_t at) {
  GuardedMap* const map = FindMap(at);
  if (map == nullptr) return false;
  // Noted before it shows.
  if (!map->has_losses.exchange(true)) maps_with_losses.fetch_add(1);
  // A file that was cut short lacks all that follows, too.
  const uintptr_t page = at & ~(page_bytes.load() - 1);
  const long placed =
      syscall(SYS_mmap, page, map->end.load() - page, PROT_READ,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return placed != -1;
}

// Lets the system do what it does without a handler, as soon as this one returns.
void Default(int signal_number, bool was_sent) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal_number, &action, nullptr);
  if (was_sent) raise(signal_number);
}

void HandToPrevious(int signal_number, siginfo_t* info, void* context) {
  const bool was_sent = info->si_code <= 0;
  const struct sigaction* const previous = previous_action.load();
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  if (thread_in_previous.load() == self) return Default(signal_number, was_sent);
  if ((previous->sa_flags & SA_SIGINFO) == 0) {
    if (previous->sa_handler == SIG_IGN && was_sent) return;
    if (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN) {
      return Default(signal_number, was_sent);
    }
  }
  thread_in_previous.store(self);
  if ((previous->sa_flags & SA_SIGINFO) != 0) {
    previous->sa_sigaction(signal_number, info, context);
  } else {
    previous->sa_handler(signal_number);
  }
  thread_in_previous.store(0);
}

void OnBusError(int signal_number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool is_fault = info->si_code > 0;
  if (!is_fault || !PutZeros(reinterpret_cast<uintptr_t>(info->si_addr))) {
    HandToPrevious(signal_number, info, context);
  }
  errno = saved;
}

// Under the mutex.
void InstallHandler() {
  struct sigaction current{};
  sigaction(SIGBUS, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == &OnBusError) return;
  previous_action.store(new struct sigaction(current));
  struct sigaction action{};
  action.sa_sigaction = &OnBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

GuardedMap* Register(uintptr_t begin, size_t size) {
  Registry& registry = TheRegistry();
  const std::scoped_lock lock(registry.mutex);
  if (page_bytes == 0) page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  if (registry.free.empty()) {
    auto* const block = new MapBlock;
    for (GuardedMap& map : block->maps) registry.free.push_back(&map);
    block->next = first_block.load();
    first_block.store(block, std::memory_order_release);
  }
  GuardedMap* const map = registry.free.back();
  registry.free.pop_back();
  const uintptr_t page = page_bytes;
  map->end.store((begin + size + page - 1) & ~(page - 1));
  map->begin.store(begin, std::memory_order_release);
  InstallHandler();
  return map;
}

void Unregister(GuardedMap* map) {
  Registry& registry = TheRegistry();
  const std::scoped_lock lock(registry.mutex);
  map->begin.store(0);
  map->end.store(0);
  if (map->has_losses.exchange(false)) maps_with_losses.fetch_sub(1);
  registry.free.push_back(map);
}

}  // namespace

bool LooksForLosses(BytesView bytes) {
  const GuardedMap* const map = FindMap(reinterpret_cast<uintptr_t>(bytes.data()));
  return map != nullptr && map->has_losses.load();
}

}  // namespace guarded_map_internal

Bytes MapFile(int fd, size_t size) {
  void* const address = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return {};
  auto* const map =
      guarded_map_internal::Register(reinterpret_cast<uintptr_t>(address), size);
  std::shared_ptr<const void> owner(address, [size, map](void* at) {
    // Nobody reads it any more: no fault comes between the two.
    guarded_map_internal::Unregister(map);
    munmap(at, size);
  });
  return {std::move(owner), BytesView(static_cast<const std::byte*>(address), size)};
}

void KeepMapGuard() {
  guarded_map_internal::Registry& registry = guarded_map_internal::TheRegistry();
  const std::scoped_lock lock(registry.mutex);
  if (guarded_map_internal::first_block.load() != nullptr) {
    guarded_map_internal::InstallHandler();
  }
}

}  // namespace dolium
