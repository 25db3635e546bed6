#include "source/marathon/marathon_parts.h"

#include <algorithm>

#include "base/ip_address.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

using config::Node;

constexpr size_t kMostPairs = 256;
constexpr size_t kLongestId = 1'024;
constexpr uint64_t kMostPort = 65'535;

}  // namespace

bool IsMarathonId(std::string_view text) {
  return text.size() > 1 && text.size() <= kLongestId && text.starts_with('/') && !text.ends_with('/');
}

uint32_t MarathonPortNumber(Node node) {
  const uint64_t number = node.Unsigned().value_or(0);
  return number > kMostPort ? 0 : static_cast<uint32_t>(number);
}

LabelMap ReadMarathonLabels(Node node) {
  LabelMap labels;
  for (const Node::Entry& entry : node.entries()) {
    if (labels.size() == kMostPairs) break;
    if (entry.value.IsString()) labels.emplace(entry.key, entry.value.text());
  }
  return labels;
}

std::vector<std::string> ReadMarathonTexts(Node node) {
  std::vector<std::string> texts;
  for (const Node one : node.elements()) {
    if (texts.size() == kMostPairs) break;
    if (one.IsString()) texts.emplace_back(one.text());
  }
  return texts;
}

// A pod's endpoint has a list of protocols.
MarathonPort ReadMarathonPort(Node node) {
  MarathonPort port;
  port.name = node.Find("name").String();
  const Node protocol = node.Find("protocol");
  port.protocol =
      protocol.IsSequence() ? Join(ReadMarathonTexts(protocol), ",") : std::string(protocol.String("tcp"));
  port.labels = ReadMarathonLabels(node.Find("labels"));
  return port;
}

std::string MarathonAddressOn(const std::vector<std::string>& networks,
                              const std::vector<std::string>& addresses,
                              const std::vector<std::string>& wanted) {
  if (!wanted.empty() && networks.size() == addresses.size()) {
    const auto it = std::find(networks.begin(), networks.end(), wanted.front());
    if (it != networks.end()) return addresses[static_cast<size_t>(it - networks.begin())];
  }
  const auto v4 = std::find_if(addresses.begin(), addresses.end(), [](const std::string& one) {
    const auto address = IpAddress::Parse(one);
    return address && address->is_v4();
  });
  if (v4 != addresses.end()) return *v4;
  return addresses.empty() ? "" : addresses.front();
}

void SortMarathonInstances(MarathonService* service) {
  std::sort(service->instances.begin(), service->instances.end(),
            [](const MarathonInstance& a, const MarathonInstance& b) { return a.id < b.id; });
}

}  // namespace fairlead::source
