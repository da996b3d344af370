// What the options of `dolium pack` say, in the words of the library.
//
// All errors are kInvalidArgument and name the option, but for files that cannot be read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/context.h"
#include "cli/pack/pack_target.h"
#include "dolium/base/result.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/ops/pack/pack_create.h"
#include "dolium/ops/pack/pack_options.h"
#include "dolium/ops/pack/pack_select.h"

namespace dolium::cli {

// The pairs of --metadata, as members with text.
nlohmann::ordered_json UserMetadata(const Arguments& arguments);

// How records and shards are written: --compression and all that belongs to it, --align,
// --record-size-limit, --shard-size, ...
Result<shardpack::PackOptions> PackOptionsOf(const Context& context);

// --prefix, --keys-from, --range, --every, --sample, --seed.
Result<dataset::PackSelection> SelectionOf(const Context& context);

// Where shards go: `target`, or --output, which the verb cannot do without.
Result<PackTarget> ShardTarget(const Context& context);
Result<PackTarget> ShardTarget(const Context& context, std::string target);

// The kind of other data that option `name` names; see SampleKinds.
Result<std::string> KindOption(const Context& context, std::string_view name);

// The set that references name.
Result<std::shared_ptr<const dataset::SampleSet>> OpenSet(
    const std::vector<std::string>& references);

// The end of a verb that writes to `target` and has failed, or was stopped.
ExitStatus FailPackJob(Context& context, const PackTarget& target, const Error& error);

// The closing line of a verb that writes shards.
void ShowPackReport(const Context& context, const PackTarget& target,
                    const dataset::PackReport& report);

}  // namespace dolium::cli
