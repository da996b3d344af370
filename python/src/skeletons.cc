// Skeletons: reading them in batches, and writing folders of them.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "dolium/domain/skeleton/skeleton_source.h"
#include "dolium/domain/skeleton/swc.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/object_values.h"

namespace dolium::python {
namespace {

using skeleton::Attribute;
using skeleton::AttributeType;
using skeleton::Skeleton;
using skeleton::SkeletonInfo;
using skeleton::SkeletonSource;

template <typename T>
nb::object NumbersOf(ByteVector bytes, size_t components) {
  auto* const kept = new ByteVector(std::move(bytes));
  const nb::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<ByteVector*>(p); });
  const size_t shape[] = {kept->size() / sizeof(T) / components, components};
  return nb::cast(nb::ndarray<nb::numpy, T>(reinterpret_cast<T*>(kept->data()),
                                            components == 1 ? 1 : 2, shape, owner));
}

// An attribute as an array of its type.
nb::object AttributeArray(const Attribute& attribute, ByteVector bytes) {
  const size_t components = attribute.num_components;
  switch (attribute.type) {
    case AttributeType::kFloat32:
      return NumbersOf<float>(std::move(bytes), components);
    case AttributeType::kInt8:
      return NumbersOf<int8_t>(std::move(bytes), components);
    case AttributeType::kUint8:
      return NumbersOf<uint8_t>(std::move(bytes), components);
    case AttributeType::kInt16:
      return NumbersOf<int16_t>(std::move(bytes), components);
    case AttributeType::kUint16:
      return NumbersOf<uint16_t>(std::move(bytes), components);
    case AttributeType::kInt32:
      return NumbersOf<int32_t>(std::move(bytes), components);
    case AttributeType::kUint32:
      return NumbersOf<uint32_t>(std::move(bytes), components);
  }
  return nb::none();
}

nb::tuple SkeletonTuple(const SkeletonInfo& info, Skeleton skeleton) {
  nb::list attributes;
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    attributes.append(
        AttributeArray(info.attributes[i], std::move(skeleton.attributes[i])));
  }
  return nb::make_tuple(ArrayFrom<float>(std::move(skeleton.vertices), 3),
                        ArrayFrom<uint32_t>(std::move(skeleton.edges), 2), attributes);
}

class SkeletonFolder {
 public:
  SkeletonFolder(nb::handle location, nb::handle cache) {
    const std::string text = LocationText(location);
    const auto options = CacheFrom(cache);
    const CacheFor scope(options);
    source_ = Must(WithoutGil(
        /*is_remote=*/true, [&]() -> Result<std::shared_ptr<const SkeletonSource>> {
          DOLIUM_TRY(const Location parsed, ParseLocation(text));
          return OpenSkeletons(parsed);
        }));
  }

  const SkeletonSource& source() const { return *source_; }
  bool is_remote() const { return !IsLocal(source_->storage().folder()); }

  nb::object Ids() const {
    auto ids = Must(WithoutGil(is_remote(), [&] { return source_->ListIds(); }));
    return ArrayFrom<uint64_t>(std::move(ids), 0);
  }

  nb::list Get(nb::handle keys, bool stored_units, size_t jobs) const {
    const std::vector<uint64_t> ids = ChunkIds(keys);
    const skeleton::SkeletonReadOptions options{.stored_units = stored_units,
                                                .read = {.jobs = jobs}};
    auto skeletons =
        Must(WithoutGil(is_remote(), [&] { return source_->GetMany(ids, options); }),
             Absent::kEntry);
    nb::list out;
    for (std::optional<Skeleton>& one : skeletons) {
      if (one) {
        out.append(SkeletonTuple(source_->info(), *std::move(one)));
      } else {
        out.append(nb::none());
      }
    }
    return out;
  }

  // Triples of id, type and number of components.
  nb::list Attributes() const {
    nb::list out;
    for (const Attribute& attribute : source_->info().attributes) {
      const std::string_view type = ToString(attribute.type);
      out.append(
          nb::make_tuple(attribute.id, std::string(type), attribute.num_components));
    }
    return out;
  }

 private:
  std::shared_ptr<const SkeletonSource> source_;
};

SkeletonInfo InfoFrom(nb::handle attributes, nb::handle transform) {
  SkeletonInfo info;
  info.transform = TransformFrom(transform);
  for (const nb::handle item : nb::iter(nb::borrow(attributes))) {
    const auto name = nb::cast<std::string>(item[1]);
    const auto type = skeleton::ParseAttributeType(name);
    if (!type) {
      throw nb::type_error(("attributes of " + name + " cannot be stored").c_str());
    }
    info.attributes.push_back(
        {nb::cast<std::string>(item[0]), *type, nb::cast<uint32_t>(item[2])});
  }
  return info;
}

// Vertices, edges, and the bytes of each attribute.
Skeleton SkeletonFrom(nb::handle vertices, nb::handle edges, nb::handle attributes) {
  Skeleton skeleton{.vertices = RowsOf<float, 3>(vertices),
                    .edges = RowsOf<uint32_t, 2>(edges),
                    .attributes = {}};
  for (const nb::handle content : nb::iter(nb::borrow(attributes))) {
    const auto bytes = nb::cast<nb::bytes>(content);
    const BytesView view = AsBytes({bytes.c_str(), bytes.size()});
    skeleton.attributes.emplace_back(view.begin(), view.end());
  }
  return skeleton;
}

nb::object WriteAllSkeletons(nb::handle location, nb::handle skeletons,
                             nb::handle attributes, const std::string& storage,
                             bool keep_types, nb::handle transform, uint64_t count,
                             uint64_t bytes, bool register_in_volume, bool force,
                             size_t jobs, uint64_t memory, nb::object progress) {
  const std::string text = LocationText(location);
  const SkeletonInfo info = InfoFrom(attributes, transform);
  PythonSupply<Skeleton> supply(skeletons, [](nb::handle item) {
    return std::pair(nb::cast<uint64_t>(item[0]),
                     SkeletonFrom(item[1], item[2], item[3]));
  });
  return RunWriter<Skeleton>(
      supply,
      NewObjectsFrom(storage, 16, keep_types, register_in_volume, force, jobs, memory),
      std::move(progress),
      [&](const ObjectSupply<Skeleton>& from,
          const NewObjectsOptions& options) -> Result<WriteSummary> {
        DOLIUM_TRY(const Location at, ParseLocation(text));
        return WriteSkeletons(at, info, {count, bytes}, from, options);
      });
}

nb::dict ExportAllSkeletons(const SkeletonFolder& folder, nb::handle keys,
                            nb::handle target, bool force, size_t jobs,
                            nb::object progress) {
  const std::vector<uint64_t> ids = ChunkIds(keys);
  const std::string text = LocationText(target);
  return RunExport(jobs, force, std::move(progress),
                   [&](const ExportObjectsOptions& options,
                       const FindingVisitor& visitor) -> Result<ExportObjectsReport> {
                     DOLIUM_TRY(const Location at, ParseLocation(text));
                     return ExportSkeletons(folder.source(), ids, at, options, visitor);
                   });
}

std::string SwcFrom(nb::handle vertices, nb::handle edges, nb::handle attributes,
                    nb::handle contents) {
  const SkeletonInfo info = InfoFrom(attributes, nb::none());
  const Skeleton skeleton = SkeletonFrom(vertices, edges, contents);
  return Must(WithoutGil([&]() -> Result<std::string> {
    // Attributes of the right length, and edges of vertices that are there.
    DOLIUM_TRY_VOID(skeleton::WriteSkeleton(skeleton, info));
    return skeleton::WriteSwc(skeleton, info, "").text;
  }));
}

nb::tuple FromSwc(const std::string& text) {
  return SkeletonTuple(skeleton::SwcInfo(),
                       Must(WithoutGil([&] { return skeleton::ParseSwc(text); })));
}

}  // namespace

void BindSkeletons(nb::module_& module) {
  nb::class_<SkeletonFolder>(module, "SkeletonFolder")
      .def(nb::init<nb::handle, nb::handle>(), nb::arg("location"),
           nb::arg("cache") = nb::none())
      .def_prop_ro("location",
                   [](const SkeletonFolder& self) {
                     return NameText(self.source().storage().folder().Describe());
                   })
      .def_prop_ro(
          "is_sharded",
          [](const SkeletonFolder& self) { return self.source().storage().is_sharded(); })
      .def_prop_ro("info_text",
                   [](const SkeletonFolder& self) {
                     return skeleton::ToJson(self.source().info());
                   })
      .def_prop_ro("attributes", &SkeletonFolder::Attributes)
      .def("ids", &SkeletonFolder::Ids)
      .def("get", &SkeletonFolder::Get, nb::arg("ids"), nb::arg("stored_units"),
           nb::arg("jobs"));
  module.def("export_skeletons", ExportAllSkeletons, nb::arg("skeletons"), nb::arg("ids"),
             nb::arg("target"), nb::arg("force"), nb::arg("jobs"),
             nb::arg("progress").none());
  module.def("write_skeletons", WriteAllSkeletons, nb::arg("location"),
             nb::arg("skeletons"), nb::arg("attributes"), nb::arg("storage"),
             nb::arg("keep_types"), nb::arg("transform").none(), nb::arg("count"),
             nb::arg("bytes"), nb::arg("register"), nb::arg("force"), nb::arg("jobs"),
             nb::arg("memory"), nb::arg("progress").none());
  module.def("swc_text", SwcFrom, nb::arg("vertices"), nb::arg("edges"),
             nb::arg("attributes"), nb::arg("contents"));
  module.def("parse_swc", FromSwc, nb::arg("text"));
}

}  // namespace dolium::python
