// Starting a thread on a system that may have none left to give.
#pragma once

#include <cstddef>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace dolium {

// More threads than this for one thing only cost memory, however many are asked for.
inline constexpr size_t kMaxThreads = 256;

// A thread that runs `body`; nullopt if the system refuses one (a limit, no memory).
template <typename Body>
std::optional<std::jthread> StartThread(Body body) {
  try {
    return std::jthread(std::move(body));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace dolium
