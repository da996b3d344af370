// The stop request that blocking waits follow.
//
// Calls of stores take no stop token: they are many, and short but for those that wait
// for a server. Such a wait asks here whether the work that its thread does is still
// wanted. Work that is spread over threads (ParallelFor, WorkerPool) takes the request of
// whoever asked for it along.
#pragma once

#include <stop_token>

namespace dolium {

// What ends the waits of the calling thread: the request of the innermost StopScope, else
// that of the process, else nothing.
std::stop_token CurrentStop();

// For all threads that are in no StopScope. To be called before there are others.
void SetProcessStop(std::stop_token stop);

// While it lives, waits of this thread follow `stop`.
class StopScope {
 public:
  explicit StopScope(std::stop_token stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::stop_token stop_;
  const std::stop_token* const outer_;
};

}  // namespace dolium
