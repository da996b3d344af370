#include "python/src/arguments.h"

#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "dolium/bytes/location.h"
#include "dolium/ops/source/chunk_reader.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {
namespace {

constexpr size_t kLargeCopy = size_t{256} << 10;
constexpr uint64_t kMaxSpecBytes = uint64_t{16} << 20;

// Like errno: what a C API call that failed has raised.
template <typename T>
T Checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal<T>(object);
}

std::string Encoded(nb::handle text) {
  const auto bytes = Checked<nb::bytes>(PyUnicode_EncodeFSDefault(text.ptr()));
  return {bytes.c_str(), bytes.size()};
}

std::string TypeName(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

[[noreturn]] void RaiseNoId(nb::handle key) {
  throw nb::value_error(fmt::format("{} is no chunk id, expected 0 to 2^64 - 1",
                                    nb::cast<std::string>(nb::repr(key)))
                            .c_str());
}

uint64_t IdOfInt(nb::handle number) {
  const uint64_t id = PyLong_AsUnsignedLongLong(number.ptr());
  if (id == UINT64_MAX && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    RaiseNoId(number);
  }
  return id;
}

bool LooksLikeJson(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && text[at] == '{';
}

std::string FileText(const std::string& name) {
  const auto read = [&]() -> Result<std::string> {
    DOLIUM_TRY(const Location file, ParseLocation(name));
    DOLIUM_TRY(const WholeObject whole, file.store->ReadWhole(file.path, kMaxSpecBytes));
    return std::string(AsText(whole.bytes));
  };
  return Must(WithoutGil(/*is_remote=*/true, read));
}

// The ids of a one-dimensional array of 64-bit integers; false if `keys` is not one.
bool AddFromArray(nb::handle keys, std::vector<uint64_t>& ids) {
  if (!PyObject_CheckBuffer(keys.ptr()) || PyBytes_Check(keys.ptr())) return false;
  Py_buffer raw{};
  if (PyObject_GetBuffer(keys.ptr(), &raw, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> buffer(&raw, PyBuffer_Release);
  const std::string_view format = raw.format == nullptr ? "B" : raw.format;
  const bool is_unsigned = format == "L" || format == "Q";
  const bool is_signed = format == "l" || format == "q";
  if (raw.ndim != 1 || raw.itemsize != sizeof(uint64_t) || !(is_unsigned || is_signed)) {
    return false;
  }
  const auto count = static_cast<size_t>(raw.shape[0]);
  ids.resize(count);
  const char* at = static_cast<const char*>(raw.buf);
  for (size_t i = 0; i < count; ++i, at += raw.strides[0]) {
    std::memcpy(&ids[i], at, sizeof(uint64_t));
    if (is_signed && static_cast<int64_t>(ids[i]) < 0) {
      RaiseNoId(nb::int_(static_cast<int64_t>(ids[i])));
    }
  }
  return true;
}

}  // namespace

std::string LocationText(nb::handle location) {
  const auto path = Checked<nb::object>(PyOS_FSPath(location.ptr()));
  if (PyBytes_Check(path.ptr())) {
    const auto bytes = nb::borrow<nb::bytes>(path);
    return {bytes.c_str(), bytes.size()};
  }
  return Encoded(path);
}

nb::str NameText(std::string_view name) {
  return Checked<nb::str>(PyUnicode_DecodeFSDefaultAndSize(
      name.data(), static_cast<Py_ssize_t>(name.size())));
}

std::optional<std::string> SpecText(nb::handle spec) {
  if (spec.is_none()) return std::nullopt;
  if (nb::hasattr(spec, "to_json")) {
    return nb::cast<std::string>(spec.attr("to_json")());
  }
  if (nb::isinstance<nb::dict>(spec)) {
    return nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(spec));
  }
  if (PyUnicode_Check(spec.ptr())) {
    std::string text = Encoded(spec);
    return LooksLikeJson(text) ? text : FileText(text);
  }
  if (!nb::hasattr(spec, "__fspath__")) {
    throw nb::type_error(
        fmt::format("a sharding spec is a ShardingSpec, a dict, JSON text "
                    "or the name of a file with it, not {}",
                    TypeName(spec))
            .c_str());
  }
  return FileText(LocationText(spec));
}

nb::handle EitherOf(nb::handle value, const char* name, nb::handle other,
                    const char* other_name) {
  if (!value.is_none() && !other.is_none()) {
    throw nb::type_error(
        fmt::format("{} and {} are the same thing", name, other_name).c_str());
  }
  return value.is_none() ? other : value;
}

std::optional<CacheOptions> CacheFrom(nb::handle cache) {
  if (cache.is_none()) return std::nullopt;
  CacheOptions options;
  if (nb::isinstance<nb::str>(cache)) {
    options = Must(ParseCacheOptions(LocationText(cache)));
  } else if (nb::isinstance<nb::tuple>(cache)) {
    if (nb::len(cache) != 3 ||
        !nb::try_cast<uint64_t>(nb::object(cache[1]), options.limit) ||
        !nb::try_cast<bool>(nb::object(cache[2]), options.offline)) {
      throw nb::type_error("a cache is a folder, a limit in bytes, and whether offline");
    }
    options.folder = LocationText(nb::object(cache[0]));
  } else {
    options.folder = LocationText(cache);
  }
  if (options.folder.empty()) throw nb::value_error("the cache has no folder");
  if (options.limit < CacheOptions::kMinLimit) {
    throw nb::value_error(fmt::format("the limit of the cache is {} bytes, expected at "
                                      "least {}",
                                      options.limit, CacheOptions::kMinLimit)
                              .c_str());
  }
  std::error_code error;
  const auto absolute = std::filesystem::absolute(options.folder, error);
  if (!error) options.folder = absolute.native();
  return options;
}

nb::object CacheTo(const std::optional<CacheOptions>& cache) {
  if (!cache) return nb::none();
  return nb::make_tuple(NameText(cache->folder), cache->limit, cache->offline);
}

uint64_t ChunkId(nb::handle key) {
  if (PyLong_Check(key.ptr())) return IdOfInt(key);
  if (PyUnicode_Check(key.ptr())) return Must(ParseChunkId(Encoded(key)));
  if (!PyIndex_Check(key.ptr())) {
    throw nb::type_error(
        fmt::format("a chunk id is an int or a str, not {}", TypeName(key)).c_str());
  }
  return IdOfInt(Checked<nb::object>(PyNumber_Index(key.ptr())));
}

std::vector<uint64_t> ChunkIds(nb::handle keys) {
  std::vector<uint64_t> ids;
  if (AddFromArray(keys, ids)) return ids;
  if (PyUnicode_Check(keys.ptr())) {
    throw nb::type_error("expected an iterable of chunk ids, not one str");
  }
  const auto sequence = Checked<nb::object>(
      PySequence_Fast(keys.ptr(), "expected an iterable of chunk ids"));
  const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr()));
  ids.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    ids.push_back(
        ChunkId(PySequence_Fast_GET_ITEM(sequence.ptr(), static_cast<Py_ssize_t>(i))));
  }
  return ids;
}

std::string KeyText(nb::handle key) {
  if (PyUnicode_Check(key.ptr())) return Encoded(key);
  if (!PyIndex_Check(key.ptr())) {
    throw nb::type_error(
        fmt::format("a key is a str or an int, not {}", TypeName(key)).c_str());
  }
  return nb::cast<std::string>(nb::str(Checked<nb::object>(PyNumber_Index(key.ptr()))));
}

BorrowedBytes::BorrowedBytes(nb::handle object) {
  if (PyBytes_Check(object.ptr())) {
    view_ = AsBytes({PyBytes_AS_STRING(object.ptr()),
                     static_cast<size_t>(PyBytes_GET_SIZE(object.ptr()))});
    return;
  }
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_SIMPLE) != 0) {
    throw nb::python_error();
  }
  has_buffer_ = true;
  view_ = {static_cast<const std::byte*>(buffer_.buf), static_cast<size_t>(buffer_.len)};
}

BorrowedBytes::~BorrowedBytes() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
}

nb::object NewBytes(uint64_t size) {
  return Checked<nb::object>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
}

MutableBytes BytesOf(nb::handle object) {
  return std::as_writable_bytes(
      std::span(PyBytes_AS_STRING(object.ptr()),
                static_cast<size_t>(PyBytes_GET_SIZE(object.ptr()))));
}

nb::bytes CopyToPython(BytesView bytes) {
  if (bytes.size() < kLargeCopy) {
    return Checked<nb::bytes>(
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                  static_cast<Py_ssize_t>(bytes.size())));
  }
  auto object = nb::steal<nb::bytes>(NewBytes(bytes.size()).release());
  const MutableBytes to = BytesOf(object);
  const nb::gil_scoped_release release;
  std::memcpy(to.data(), bytes.data(), bytes.size());
  return object;
}

nb::object PropertyObject(const PropertyValue& value) {
  return std::visit(
      [](const auto& one) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::string>) {
          return MessageText(one);
        } else {
          return nb::cast(one);
        }
      },
      value.value());
}

}  // namespace dolium::python
