#include "injection/surroundings.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/go_bool.h"
#include "base/strings.h"
#include "injection/annotations.h"

namespace fairlead::injection {
namespace {

constexpr int kFirstNativeMinor = 33;

bool ReadNumber(std::string_view* text, int64_t* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc() || *number < 0) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

// The second number of a version such as v1.33.1-gke.100; nothing where it is none. A lone number has a zero
// there.
std::optional<int64_t> MinorOf(std::string_view version) {
  if (version.starts_with('v')) version.remove_prefix(1);
  int64_t major = 0, minor = 0;
  if (!ReadNumber(&version, &major)) return std::nullopt;
  if (version.starts_with('.')) {
    version.remove_prefix(1);
    if (!ReadNumber(&version, &minor)) return std::nullopt;
  }
  constexpr std::string_view kAllowed = "0123456789.+-~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (version.find_first_not_of(kAllowed) != std::string_view::npos) return std::nullopt;
  return minor;
}

bool RunsNative(const ClusterNode& node) {
  const std::optional<int64_t> minor = MinorOf(node.kubelet_version);
  return minor && *minor >= kFirstNativeMinor;
}

// The last number of a range FIRST/COUNT or FIRST-LAST, in 32 bits.
std::optional<int64_t> LastOf(std::string_view range) {
  const bool counted = range.find('/') != std::string_view::npos;
  int64_t first = 0, second = 0;
  constexpr int64_t kMost = UINT32_MAX;
  if (!ReadNumber(&range, &first) || first > kMost || range.empty() || range[0] != (counted ? '/' : '-'))
    return std::nullopt;
  range.remove_prefix(1);
  if (!ReadNumber(&range, &second) || second > kMost) return std::nullopt;
  return counted ? static_cast<int64_t>(static_cast<uint32_t>(first + second - 1)) : second;
}

// An annotation's value; nothing where it is absent or empty.
std::optional<std::string> Filled(const LabelMap& annotations, std::string_view name) {
  const auto it = annotations.find(name);
  if (it == annotations.end() || it->second.empty()) return std::nullopt;
  return it->second;
}

std::vector<std::string> OldForm(std::string_view pairs) {
  constexpr std::string_view kMark = ":ENV:";
  std::vector<std::string> words;
  while (pairs.starts_with(kMark)) {
    pairs.remove_prefix(kMark.size());
    const size_t end = std::min(pairs.find(kMark), pairs.size());
    const std::string_view pair = pairs.substr(0, end);
    pairs.remove_prefix(end);
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    words.emplace_back(pair.substr(0, equals));
    words.emplace_back(pair.substr(equals + 1));
  }
  return words;
}

}  // namespace

std::optional<NativeSidecars> ParseNativeSidecars(std::string_view text) {
  if (text == "auto" || text.empty()) return NativeSidecars::kAuto;
  const std::optional<bool> said = ParseGoBool(text);
  if (!said) return std::nullopt;
  return *said ? NativeSidecars::kAlways : NativeSidecars::kNever;
}

bool CanBeNative(const PodSurroundings& surroundings, const std::string& cluster, const std::string& node) {
  if (surroundings.native != NativeSidecars::kAuto) return surroundings.native == NativeSidecars::kAlways;
  const auto it = surroundings.clusters.find(cluster);
  if (it == surroundings.clusters.end()) return false;
  const std::vector<ClusterNode>& nodes = it->second.nodes;
  const auto own =
      std::find_if(nodes.begin(), nodes.end(), [&](const ClusterNode& one) { return one.name == node; });
  if (!node.empty() && own != nodes.end()) return RunsNative(*own);
  return std::all_of(nodes.begin(), nodes.end(), RunsNative);
}

ProxyIds ProxyIdsOf(const LabelMap& annotations) {
  constexpr std::string_view kUsers = "openshift.io/sa.scc.uid-range";
  constexpr std::string_view kGroups = "openshift.io/sa.scc.supplemental-groups";
  ProxyIds ids;
  const std::optional<std::string> users = Filled(annotations, kUsers);
  if (const auto last = users ? LastOf(*users) : std::nullopt) ids.user = *last;
  const std::optional<std::string> groups =
      annotations.contains(kGroups) ? Filled(annotations, kGroups) : users;
  if (!groups) return ids;
  std::vector<int64_t> last;
  for (std::string_view range : Split(*groups, ',')) {
    const auto one = LastOf(range);
    if (!one) return ids;
    last.push_back(*one);
  }
  ids.group = last.front();
  return ids;
}

std::map<std::string, std::string> VariablesOfPath(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  const size_t behind = path.find('/', 1);
  if (behind == std::string_view::npos) return {};
  const std::string_view rest = path.substr(behind + 1);
  std::vector<std::string> words;
  if (rest.starts_with(":ENV:")) {
    words = OldForm(rest);
  } else {
    for (std::string_view word : Split(rest, '/'))
      words.push_back(words.size() % 2 == 0 ? std::string(word) : ReplaceAll(word, "--slash--", "/"));
  }
  std::map<std::string, std::string> variables;
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    std::string name = words[i] == "cluster" ? kClusterVariable
                       : words[i] == "net"   ? kNetworkVariable
                                             : AsciiUpper(words[i]);
    if (!name.empty()) variables[std::move(name)] = std::move(words[i + 1]);
  }
  return variables;
}

}  // namespace fairlead::injection
