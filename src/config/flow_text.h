#ifndef FAIRLEAD_CONFIG_FLOW_TEXT_H_
#define FAIRLEAD_CONFIG_FLOW_TEXT_H_

#include <string>
#include <string_view>

#include "config/tree.h"

namespace fairlead::config {

// A document as YAML in flow style, which reads back as it was: same types, values and order, and each value
// as many lines below the document's first as it was. `kind` is added where the document, an item of a typed
// list, does not say its own. Pure.
std::string FlowText(Node document, std::string_view kind = {});

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_FLOW_TEXT_H_
