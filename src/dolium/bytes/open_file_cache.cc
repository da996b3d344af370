#include "dolium/bytes/open_file_cache.h"

#include <utility>

namespace dolium {

std::shared_ptr<const OpenFile> OpenFileCache::Get(std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->file;
}

void OpenFileCache::Put(std::string_view path, std::shared_ptr<const OpenFile> file) {
  std::shared_ptr<const OpenFile> old;  // Closes its file after the lock is gone.
  const std::lock_guard lock(mutex_);
  if (const auto found = by_path_.find(path); found != by_path_.end()) {
    old = std::exchange(found->second->file, std::move(file));
    order_.splice(order_.begin(), order_, found->second);
    return;
  }
  order_.push_front({std::string(path), std::move(file)});
  by_path_.emplace(order_.front().path, order_.begin());
  if (order_.size() > capacity_) {
    old = std::move(order_.back().file);
    by_path_.erase(order_.back().path);
    order_.pop_back();
  }
}

void OpenFileCache::Drop(std::string_view path) {
  std::shared_ptr<const OpenFile> old;
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return;
  const Order::iterator entry = found->second;
  old = std::move(entry->file);
  by_path_.erase(found);
  order_.erase(entry);
}

void OpenFileCache::Clear() {
  Order old;
  const std::lock_guard lock(mutex_);
  by_path_.clear();
  old.swap(order_);
}

}  // namespace dolium
