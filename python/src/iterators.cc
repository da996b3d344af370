#include "python/src/iterators.h"

#include <utility>

#include "dolium/ops/read_key.h"
#include "dolium/ops/source/chunk_reader.h"
#include "python/src/arguments.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {

nb::object KeyToPython(std::string_view key, bool keys_are_ids) {
  if (!keys_are_ids) return NameText(key);
  return nb::int_(Must(ParseChunkId(key)));
}

EntryIterator::EntryIterator(std::shared_ptr<const Container> container,
                             bool keys_are_ids, Gives gives)
    : container_(std::move(container)),
      keys_are_ids_(keys_are_ids),
      gives_(gives),
      is_remote_(!IsLocal(container_->folder())),
      stream_(container_) {}

nb::object EntryIterator::Next() {
  while (true) {
    while (next_ < entries_.size()) {
      const size_t at = next_++;
      if (gives_ == Gives::kItems && !values_[at]) continue;  // Removed since the scan.
      nb::object key = KeyToPython(entries_[at].key, keys_are_ids_);
      if (gives_ == Gives::kKeys) return key;
      // Let go of, so that a batch does not stay in memory longer than it must.
      const Bytes value = *std::exchange(values_[at], std::nullopt);
      return nb::make_tuple(std::move(key), CopyToPython(value));
    }
    if (ended_) throw nb::stop_iteration();
    Must(Load());
  }
}

Result<void> EntryIterator::Load() {
  std::vector<Entry> entries;
  std::vector<std::optional<Bytes>> values;
  Result<void> result;
  std::unique_lock<std::mutex> lock;
  {
    const nb::gil_scoped_release release;
    lock = std::unique_lock(loading_);
  }
  result = WithoutGil(is_remote_, [&]() -> Result<void> {
    DOLIUM_TRY(entries, stream_.Next());
    if (gives_ == Gives::kKeys) return {};
    DOLIUM_TRY(values, ReadValues(*container_, entries));
    return {};
  });
  if (!result) entries.clear();
  if (next_ < entries_.size()) {
    // Another thread has loaded a batch meanwhile, and not used it up: ours comes after
    // it.
    entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()),
                    std::make_move_iterator(entries.end()));
    values_.insert(values_.end(), std::make_move_iterator(values.begin()),
                   std::make_move_iterator(values.end()));
    return result;
  }
  ended_ = entries.empty() || !result;
  entries_ = std::move(entries);
  values_ = std::move(values);
  next_ = 0;
  return result;
}

void BindIterators(nb::module_& module) {
  nb::class_<EntryIterator>(module, "EntryIterator",
                            "What Container.keys() and Container.items() give.")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &EntryIterator::Next);
}

}  // namespace dolium::python
