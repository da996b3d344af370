#include "dolium/base/stop.h"

#include <utility>

namespace dolium {
namespace {

thread_local const std::stop_token* scoped_stop = nullptr;

std::stop_token& ProcessStop() {
  static auto* const stop = new std::stop_token;  // Outlives all threads.
  return *stop;
}

}  // namespace

std::stop_token CurrentStop() {
  return scoped_stop != nullptr ? *scoped_stop : ProcessStop();
}

void SetProcessStop(std::stop_token stop) { ProcessStop() = std::move(stop); }

StopScope::StopScope(std::stop_token stop)
    : stop_(std::move(stop)), outer_(std::exchange(scoped_stop, &stop_)) {}

StopScope::~StopScope() { scoped_stop = outer_; }

}  // namespace dolium
