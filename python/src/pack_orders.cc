// The orders of training loops: PackOrder, PackSplit and PackMixture.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "dolium/domain/dataset/mixture.h"
#include "dolium/domain/dataset/sample_order.h"
#include "dolium/domain/dataset/split.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"

namespace dolium::python {
namespace {

using dataset::Mixture;
using dataset::MixtureStep;
using dataset::SampleOrder;
using dataset::Split;

using Numbers = nb::ndarray<nb::numpy, uint64_t, nb::ndim<1>>;

Numbers ToArray(std::vector<uint64_t> values) {
  auto* const kept = new std::vector<uint64_t>(std::move(values));
  const nb::capsule owner(
      kept, [](void* p) noexcept { delete static_cast<std::vector<uint64_t>*>(p); });
  return Numbers(kept->data(), {kept->size()}, owner);
}

void CheckRange(uint64_t begin, uint64_t count, uint64_t total) {
  if (begin > total || count > total - begin) {
    throw nb::index_error("positions past the end of the order");
  }
}

dataset::Shuffle ParseShuffle(std::string_view text) {
  if (text == "none") return dataset::Shuffle::kNone;
  if (text == "global") return dataset::Shuffle::kGlobal;
  if (text == "window") return dataset::Shuffle::kWindow;
  throw nb::value_error("shuffle is \"none\", \"global\" or \"window\"");
}

dataset::Remainder ParseRemainder(std::string_view text) {
  if (text == "drop") return dataset::Remainder::kDrop;
  if (text == "pad") return dataset::Remainder::kPad;
  if (text == "keep") return dataset::Remainder::kKeep;
  throw nb::value_error("remainder is \"drop\", \"pad\" or \"keep\"");
}

dataset::MixtureStop ParseStop(std::string_view text) {
  if (text == "first") return dataset::MixtureStop::kFirstExhausted;
  if (text == "all") return dataset::MixtureStop::kAllExhausted;
  if (text == "samples") return dataset::MixtureStop::kSamples;
  throw nb::value_error("stop is \"first\", \"all\" or \"samples\"");
}

nb::tuple StepTuple(const MixtureStep& step) {
  return nb::make_tuple(step.source, step.epoch, step.position);
}

}  // namespace

void BindPackOrders(nb::module_& module) {
  nb::class_<SampleOrder>(module, "PackOrder",
                          "In which order an epoch visits the samples of a set.")
      .def(
          "__init__",
          [](SampleOrder* self, uint64_t total, std::string_view shuffle, uint64_t seed,
             uint64_t epoch, const std::vector<std::pair<uint64_t, uint64_t>>& extents,
             uint64_t run_bytes, uint64_t window_runs) {
            dataset::SampleOrderOptions options{.total = total,
                                                .shuffle = ParseShuffle(shuffle),
                                                .seed = seed,
                                                .epoch = epoch,
                                                .window_runs = window_runs};
            if (options.shuffle == dataset::Shuffle::kWindow) {
              std::vector<dataset::ShardExtent> shards;
              shards.reserve(extents.size());
              for (const auto& [records, bytes] : extents) {
                shards.push_back({records, bytes});
              }
              options.run_starts = Must(dataset::EvenRuns(shards, run_bytes));
            }
            new (self) SampleOrder(Must(SampleOrder::Make(std::move(options))));
          },
          nb::arg("total"), nb::arg("shuffle") = "global", nb::arg("seed") = 0,
          nb::arg("epoch") = 0,
          nb::arg("extents") = std::vector<std::pair<uint64_t, uint64_t>>(),
          nb::arg("run_bytes") = dataset::kDefaultRunBytes, nb::arg("window_runs") = 16)
      .def("__len__", &SampleOrder::total)
      .def_prop_ro("epoch", &SampleOrder::epoch)
      .def_prop_ro("seed", &SampleOrder::seed)
      .def(
          "at",
          [](const SampleOrder& self, uint64_t position) {
            CheckRange(position, 1, self.total());
            return self.At(position);
          },
          nb::arg("position"))
      .def(
          "fill",
          [](const SampleOrder& self, uint64_t begin, uint64_t count) {
            CheckRange(begin, count, self.total());
            std::vector<uint64_t> samples(static_cast<size_t>(count));
            self.Fill(begin, samples);
            return ToArray(std::move(samples));
          },
          nb::arg("begin"), nb::arg("count"))
      .def(
          "window_at",
          [](const SampleOrder& self, uint64_t position) -> nb::object {
            CheckRange(position, 1, self.total());
            const auto window = self.WindowAt(position);
            if (!window) return nb::none();
            nb::list runs;
            for (const dataset::SampleRun& run : window->runs) {
              runs.append(nb::make_tuple(run.first, run.count));
            }
            return nb::make_tuple(window->begin, window->end, runs);
          },
          nb::arg("position"));

  nb::class_<Split>(module, "PackSplit",
                    "Which positions of an order go to which rank, worker and batch.")
      .def(
          "__init__",
          [](Split* self, uint64_t total, uint64_t start, uint64_t batch_size,
             uint64_t rank, uint64_t world, uint64_t worker, uint64_t workers,
             std::string_view remainder) {
            new (self) Split(Must(Split::Make({.total = total,
                                               .start = start,
                                               .batch_size = batch_size,
                                               .rank = rank,
                                               .world = world,
                                               .worker = worker,
                                               .workers = workers,
                                               .remainder = ParseRemainder(remainder)})));
          },
          nb::arg("total"), nb::arg("start") = 0, nb::arg("batch_size") = 1,
          nb::arg("rank") = 0, nb::arg("world") = 1, nb::arg("worker") = 0,
          nb::arg("workers") = 1, nb::arg("remainder") = "drop")
      .def_prop_ro("batches", &Split::batches)
      .def_prop_ro("samples", &Split::samples)
      .def_prop_ro("worker_batches", &Split::worker_batches)
      .def(
          "batch",
          [](const Split& self, uint64_t batch) {
            CheckRange(batch, 1, self.batches());
            return ToArray(self.Positions(self.Batch(batch)));
          },
          nb::arg("batch"))
      .def("position_after", &Split::PositionAfter, nb::arg("batches"));

  nb::class_<Mixture>(module, "PackMixture", "Several sets as one, in given proportions.")
      .def(
          "__init__",
          [](Mixture* self, const std::vector<uint64_t>& totals,
             const std::vector<double>& weights, std::string_view stop, uint64_t samples,
             uint64_t seed, uint64_t epoch, uint64_t block_size) {
            if (totals.size() != weights.size()) {
              throw nb::value_error("as many totals as weights");
            }
            dataset::MixtureOptions options{.stop = ParseStop(stop),
                                            .samples = samples,
                                            .seed = seed,
                                            .epoch = epoch,
                                            .block_size = block_size};
            for (size_t i = 0; i < totals.size(); ++i) {
              options.sources.push_back({totals[i], weights[i]});
            }
            new (self) Mixture(Must(Mixture::Make(std::move(options))));
          },
          nb::arg("totals"), nb::arg("weights"), nb::arg("stop") = "first",
          nb::arg("samples") = 0, nb::arg("seed") = 0, nb::arg("epoch") = 0,
          nb::arg("block_size") = 1024)
      .def("__len__", &Mixture::total)
      .def("source_seed", &Mixture::SourceSeed, nb::arg("source"))
      .def(
          "at",
          [](const Mixture& self, uint64_t position) {
            CheckRange(position, 1, self.total());
            return StepTuple(self.At(position));
          },
          nb::arg("position"))
      .def(
          "fill",
          [](const Mixture& self, uint64_t begin, uint64_t count) {
            CheckRange(begin, count, self.total());
            std::vector<MixtureStep> steps(static_cast<size_t>(count));
            self.Fill(begin, steps);
            nb::list list;
            for (const MixtureStep& step : steps) list.append(StepTuple(step));
            return list;
          },
          nb::arg("begin"), nb::arg("count"));
}

}  // namespace dolium::python
