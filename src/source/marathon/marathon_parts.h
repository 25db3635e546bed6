#ifndef FAIRLEAD_SOURCE_MARATHON_MARATHON_PARTS_H_
#define FAIRLEAD_SOURCE_MARATHON_MARATHON_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "config/tree.h"
#include "source/marathon/marathon_answers.h"

// What apps and pods have in common, read. Pure.
namespace fairlead::source {

// "/shop/web": at most 1 KiB.
bool IsMarathonId(std::string_view text);
// 0 for what is no port.
uint32_t MarathonPortNumber(config::Node node);
// Pairs of texts, at most 256.
LabelMap ReadMarathonLabels(config::Node node);
std::vector<std::string> ReadMarathonTexts(config::Node node);
// Name, protocol and labels.
MarathonPort ReadMarathonPort(config::Node node);
// The address on one of the wanted networks, of an instance that has one on each; else the first. An IPv4
// address goes before others of the same network.
std::string MarathonAddressOn(const std::vector<std::string>& networks,
                              const std::vector<std::string>& addresses,
                              const std::vector<std::string>& wanted);
void SortMarathonInstances(MarathonService* service);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MARATHON_MARATHON_PARTS_H_
