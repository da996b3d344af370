#include "dolium/domain/skeleton/swc.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/endian.h"

namespace dolium::skeleton {
namespace {

constexpr std::string_view kRadiusName = "radius";
constexpr std::string_view kVertexTypes = "vertex_types";
constexpr std::string_view kSwcBlanks = " \t\r\v\f,";
constexpr uint32_t kNoParent = std::numeric_limits<uint32_t>::max();

std::string_view NextWord(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(kSwcBlanks), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(kSwcBlanks));
  line.remove_prefix(word.size());
  return word;
}

template <typename T>
std::optional<T> ParseWord(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  T value{};
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, value);
  if (word.empty() || at != end || error != std::errc()) return std::nullopt;
  return value;
}

struct Sample {
  int64_t id = 0;
  int64_t type = 0;
  Point position = {0, 0, 0};
  float radius = 0;
  int64_t parent = -1;
};

Result<Sample> ParseSample(std::string_view line) {
  Sample sample;
  const auto integer = [&](std::string_view name, int64_t& to) -> Result<void> {
    const std::string_view word = NextWord(line);
    // Some programs write whole numbers as 1.0.
    const auto value = ParseWord<double>(word);
    constexpr double kMost = 9007199254740992;  // 2^53
    if (!value || *value != std::floor(*value) || std::abs(*value) > kMost) {
      return Corrupt(fmt::format("{}: found \"{}\", expected a whole number", name,
                                 word.substr(0, 40)));
    }
    to = static_cast<int64_t>(*value);
    return {};
  };
  const auto number = [&](std::string_view name, float& to) -> Result<void> {
    const std::string_view word = NextWord(line);
    const auto value = ParseWord<float>(word);
    if (!value || !std::isfinite(*value)) {
      return Corrupt(fmt::format("{}: found \"{}\", expected a finite number", name,
                                 word.substr(0, 40)));
    }
    to = *value;
    return {};
  };
  DOLIUM_TRY_VOID(integer("sample", sample.id));
  DOLIUM_TRY_VOID(integer("type", sample.type));
  DOLIUM_TRY_VOID(number("x", sample.position[0]));
  DOLIUM_TRY_VOID(number("y", sample.position[1]));
  DOLIUM_TRY_VOID(number("z", sample.position[2]));
  DOLIUM_TRY_VOID(number("radius", sample.radius));
  DOLIUM_TRY_VOID(integer("parent", sample.parent));
  if (sample.type < 0 || sample.type > std::numeric_limits<uint8_t>::max()) {
    return Corrupt(fmt::format("type {}, expected 0 to 255", sample.type));
  }
  if (sample.id == sample.parent) return Corrupt("a sample that is its own parent");
  return sample;
}

// The attribute of that id as numbers; empty if there is none with one component.
std::vector<double> NumbersOf(const Skeleton& skeleton, const SkeletonInfo& info,
                              std::string_view id) {
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    const Attribute& attribute = info.attributes[i];
    if (attribute.id != id || attribute.num_components != 1) continue;
    SkeletonInfo alone;
    alone.attributes = {attribute};
    const Skeleton values = AsFloat32({.vertices = skeleton.vertices,
                                       .edges = {},
                                       .attributes = {skeleton.attributes[i]}},
                                      alone);
    std::vector<double> numbers(skeleton.vertices.size());
    for (size_t v = 0; v < numbers.size(); ++v) {
      numbers[v] = std::bit_cast<float>(
          LoadLE<uint32_t>(values.attributes.front().data() + 4 * v));
    }
    return numbers;
  }
  return {};
}

// The vertices that each has an edge to, one after another.
class Neighbours {
 public:
  explicit Neighbours(const Skeleton& skeleton)
      : begins_(skeleton.vertices.size() + 1), edges_(2 * skeleton.edges.size()) {
    for (const Edge& edge : skeleton.edges) {
      for (const uint32_t vertex : edge) ++begins_[vertex + 1];
    }
    for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    std::vector<size_t> next(begins_.begin(), begins_.end() - 1);
    for (const Edge& edge : skeleton.edges) {
      edges_[next[edge[0]]++] = edge[1];
      edges_[next[edge[1]]++] = edge[0];
    }
  }

  std::span<const uint32_t> Of(uint32_t vertex) const {
    return std::span(edges_).subspan(begins_[vertex],
                                     begins_[vertex + 1] - begins_[vertex]);
  }

 private:
  std::vector<size_t> begins_;
  std::vector<uint32_t> edges_;
};

struct TreeOrder {
  std::vector<uint32_t> order;    // vertices, parents first
  std::vector<uint32_t> parents;  // by vertex
  uint64_t trees = 0;
};

TreeOrder OrderOf(const Skeleton& skeleton) {
  const Neighbours neighbours(skeleton);
  const auto count = static_cast<uint32_t>(skeleton.vertices.size());
  TreeOrder tree;
  tree.parents.assign(count, kNoParent);
  std::vector<bool> is_seen(count);
  std::vector<uint32_t> open;
  const auto walk = [&](uint32_t root) {
    ++tree.trees;
    open.push_back(root);
    is_seen[root] = true;
    while (!open.empty()) {
      const uint32_t vertex = open.back();
      open.pop_back();
      tree.order.push_back(vertex);
      for (const uint32_t next : neighbours.Of(vertex)) {
        if (is_seen[next]) continue;
        is_seen[next] = true;
        tree.parents[next] = vertex;
        open.push_back(next);
      }
    }
  };
  // Ends first; what is left then are loops.
  for (const bool is_end : {true, false}) {
    for (uint32_t vertex = 0; vertex < count; ++vertex) {
      const bool fits = !is_end || neighbours.Of(vertex).size() <= 1;
      if (fits && !is_seen[vertex]) walk(vertex);
    }
  }
  return tree;
}

}  // namespace

SkeletonInfo SwcInfo() {
  SkeletonInfo info;
  info.attributes = {{.id = std::string(kRadiusName), .type = AttributeType::kFloat32},
                     {.id = std::string(kVertexTypes), .type = AttributeType::kUint8}};
  return info;
}

Result<Skeleton> ParseSwc(std::string_view text) {
  std::vector<Sample> samples;
  std::vector<size_t> lines;
  std::unordered_map<int64_t, uint32_t> vertices;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kSwcBlanks) == std::string_view::npos) continue;
    const auto context = [&] { return fmt::format("line {}", line_number); };
    auto sample = ParseSample(line);
    if (!sample) return std::move(sample).error().Within(context());
    const auto number = static_cast<uint32_t>(samples.size());
    if (!vertices.emplace(sample->id, number).second) {
      return Corrupt(fmt::format("sample {} is there twice", sample->id))
          .Within(context());
    }
    samples.push_back(*sample);
    lines.push_back(line_number);
    if (samples.size() == kNoParent) return Unsupported("a skeleton of 2^32 vertices");
  }
  Skeleton skeleton;
  skeleton.attributes = {ByteVector(4 * samples.size()), ByteVector(samples.size())};
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    skeleton.vertices.push_back(sample.position);
    StoreLE(&skeleton.attributes[0][4 * i], std::bit_cast<uint32_t>(sample.radius));
    skeleton.attributes[1][i] = static_cast<std::byte>(sample.type);
    if (sample.parent < 0) continue;
    const auto parent = vertices.find(sample.parent);
    if (parent == vertices.end()) {
      return Corrupt(fmt::format("line {}: no sample {}, which is the parent of {}",
                                 lines[i], sample.parent, sample.id));
    }
    skeleton.edges.push_back({parent->second, static_cast<uint32_t>(i)});
  }
  return skeleton;
}

SwcText WriteSwc(const Skeleton& skeleton, const SkeletonInfo& info,
                 std::string_view comment, double radius_scale) {
  const TreeOrder tree = OrderOf(skeleton);
  const std::vector<double> radii = NumbersOf(skeleton, info, kRadiusName);
  const std::vector<double> types = NumbersOf(skeleton, info, kVertexTypes);
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  while (!comment.empty()) {
    const size_t end = comment.find('\n');
    fmt::format_to(to, "# {}\n", comment.substr(0, end));
    comment.remove_prefix(end == std::string_view::npos ? comment.size() : end + 1);
  }
  fmt::format_to(to, "# sample type x y z radius parent\n");
  std::vector<uint64_t> numbers(skeleton.vertices.size());
  uint64_t number = 0;
  for (const uint32_t vertex : tree.order) {
    numbers[vertex] = ++number;
    const Point& at = skeleton.vertices[vertex];
    const double type = types.empty() ? 0 : std::clamp(types[vertex], 0.0, 255.0);
    const double radius = radii.empty() ? 0 : radii[vertex] * radius_scale;
    const uint32_t parent = tree.parents[vertex];
    fmt::format_to(
        to, "{} {} {} {} {} {} {}\n", number, static_cast<int>(type), at[0], at[1], at[2],
        static_cast<float>(radius),
        parent == kNoParent ? std::string("-1") : std::to_string(numbers[parent]));
  }
  const uint64_t kept = skeleton.vertices.size() - tree.trees;
  return {.text = std::string(out.data(), out.size()),
          .trees = tree.trees,
          .dropped_edges = skeleton.edges.size() - kept};
}

}  // namespace dolium::skeleton
