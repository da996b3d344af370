#include "python/src/pack_values.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <tuple>
#include <utility>

#include "dolium/base/parallel.h"

namespace dolium::python {
namespace {

// Batches below this are not worth threads.
constexpr uint64_t kBytesWorthThreads = uint64_t{256} << 10;
// Parts of a batch for each thread: who is late finds less to do.
constexpr size_t kSharesPerThread = 4;

// Lends out bytes, which it keeps.
struct Lender {
  PyObject_HEAD Bytes bytes;
};

int LendBuffer(PyObject* self, Py_buffer* view, int flags) {
  const Bytes& bytes = reinterpret_cast<Lender*>(self)->bytes;
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(bytes.data()),
                           static_cast<Py_ssize_t>(bytes.size()), /*readonly=*/1, flags);
}

void FreeLender(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<Lender*>(self)->bytes.~Bytes();
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* LenderType() {
  static PyTypeObject* const type = [] {
    static PyType_Slot slots[] = {
        {Py_bf_getbuffer, reinterpret_cast<void*>(LendBuffer)},
        {Py_tp_dealloc, reinterpret_cast<void*>(FreeLender)},
        {0, nullptr},
    };
    static PyType_Spec spec = {"dolium._core._Lender", sizeof(Lender), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }();
  return type;
}

}  // namespace

nb::str Text(std::string_view text) {
  PyObject* const object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (object == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(object);
}

nb::object MemoryView(Bytes bytes) {
  PyTypeObject* const type = LenderType();
  if (type == nullptr) throw nb::python_error();
  auto* const lender = reinterpret_cast<Lender*>(type->tp_alloc(type, 0));
  if (lender == nullptr) throw nb::python_error();
  new (&lender->bytes) Bytes(std::move(bytes));
  const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(lender));
  PyObject* const view = PyMemoryView_FromObject(owner.ptr());
  if (view == nullptr) throw nb::python_error();
  return nb::steal(view);
}

void KeepMemoryOfBatches() {
  // glibc learns from a large block that is freed to keep twice as much; from larger ones
  // than this it does not learn.
  constexpr size_t kHalfOfWhatIsKept = size_t{31} << 20;
  [[maybe_unused]] static const bool done = [] {
    void* volatile block = std::malloc(kHalfOfWhatIsKept);
    std::free(block);
    return true;
  }();
}

void FillOnThreads(size_t count, uint64_t bytes, size_t jobs,
                   const std::function<void(size_t begin, size_t end)>& fill) {
  if (bytes < kBytesWorthTheGil) return fill(0, count);
  const nb::gil_scoped_release release;
  const size_t shares =
      bytes < kBytesWorthThreads
          ? 1
          : std::min(count, kSharesPerThread * ThreadCount(jobs, count));
  std::ignore = ParallelFor(shares, jobs, [&](size_t share) -> Result<void> {
    fill(count * share / shares, count * (share + 1) / shares);
    return {};
  });
}

}  // namespace dolium::python
