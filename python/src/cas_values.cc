#include "python/src/cas_values.h"

#include <nanobind/stl/string.h>

namespace dolium::python {

nb::dict ToDict(const cas::Version& version) {
  nb::dict out;
  out["name"] = NameText(version.name);
  out["sequence"] = version.sequence;
  out["created"] = version.created;
  out["kind"] = std::string(VersionKindName(version.kind));
  out["hash"] = ToString(version.hash);
  out["files"] = version.totals.files;
  out["bytes"] = version.totals.bytes;
  out["chunks"] = version.totals.chunks;
  out["new_chunks"] = version.totals.new_chunks;
  out["new_bytes"] = version.totals.new_bytes;
  out["stored_bytes"] = version.totals.stored_bytes;
  out["aligned"] = version.is_aligned;
  out["host"] = version.host;
  nb::list tags;
  for (const std::string& tag : version.tags) tags.append(tag);
  out["tags"] = nb::tuple(tags);
  return out;
}

nb::dict ToDict(const cas::ManifestEntry& entry) {
  nb::dict out;
  out["path"] = NameText(entry.path);
  out["type"] = std::string(EntryTypeName(entry.type));
  out["mode"] = entry.mode;
  out["modified"] = entry.modified;
  out["size"] = entry.size;
  out["hash"] =
      entry.type == cas::EntryType::kFile ? nb::cast(ToString(entry.hash)) : nb::none();
  out["target"] = entry.type == cas::EntryType::kLink ? nb::object(NameText(entry.target))
                                                      : nb::none();
  const auto& owner = entry.attributes.owner;
  out["owner"] =
      owner ? nb::object(nb::make_tuple(owner->user, owner->group)) : nb::none();
  nb::dict extended;
  for (const auto& [name, value] : entry.attributes.extended) {
    extended[NameText(name)] = nb::bytes(value.data(), value.size());
  }
  out["xattrs"] = extended;
  out["inode"] = entry.inode;
  out["sparse"] = entry.is_sparse;
  out["device"] = IsSpecial(entry.type) && entry.type != cas::EntryType::kPipe
                      ? nb::object(nb::make_tuple(entry.device_major, entry.device_minor))
                      : nb::none();
  return out;
}

nb::dict ToDict(const cas::ChunkSums& sums) {
  nb::dict out;
  out["chunks"] = sums.chunks;
  out["bytes"] = sums.bytes;
  out["new_chunks"] = sums.new_chunks;
  out["new_bytes"] = sums.new_bytes;
  return out;
}

nb::dict ToDict(const cas::ExchangeReport& report) {
  nb::dict out;
  out["files"] = report.files;
  out["bytes"] = report.bytes;
  out["xorbs"] = report.xorbs;
  out["copied_xorbs"] = report.copied_xorbs;
  return out;
}

std::vector<std::string> Texts(const nb::sequence& sequence) {
  std::vector<std::string> texts;
  for (const nb::handle text : sequence) texts.push_back(LocationText(text));
  return texts;
}

nb::tuple LeftOutToPython(const LeftOut& left_out) {
  nb::list out;
  for (const auto& [path, reason] : left_out) {
    out.append(nb::make_tuple(NameText(path), reason));
  }
  return nb::tuple(out);
}

}  // namespace dolium::python
