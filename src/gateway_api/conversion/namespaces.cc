#include "gateway_api/conversion/namespaces.h"

#include <optional>
#include <utility>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/label_selector.h"

namespace fairlead::gateway_api {
namespace {

using config::Node;

// Nothing where the selector is invalid: it then selects nothing.
std::optional<model::LabelSelector> ReadSelector(Node node) {
  istio::mesh::v1alpha1::LabelSelector proto;
  for (const Node::Entry& entry : node.Find("matchLabels").entries())
    (*proto.mutable_matchlabels())[std::string(entry.key)] = std::string(entry.value.text());
  for (Node one : node.Find("matchExpressions").elements()) {
    auto* requirement = proto.add_matchexpressions();
    requirement->set_key(std::string(one.Find("key").text()));
    requirement->set_operator_(std::string(one.Find("operator").text()));
    for (Node value : one.Find("values").elements()) requirement->add_values(std::string(value.text()));
  }
  auto selector = model::LabelSelector::Parse(proto);
  if (!selector.ok()) return std::nullopt;
  return *std::move(selector);
}

std::vector<std::string> AllowedNamespaces(Node listener, std::string_view own_ns, Lookups& lookups) {
  const Node namespaces = listener.Find("allowedRoutes").Find("namespaces");
  const std::string_view from = namespaces.Find("from").String("Same");
  if (from == "Same") return {std::string(own_ns)};
  const Node selector_node = namespaces.Find("selector");
  if (from == "All" || selector_node.IsNull()) return {"*"};
  const auto selector = ReadSelector(selector_node);
  if (!selector) return {};
  std::vector<std::string> names;
  for (const auto& [name, labels] : lookups.Namespaces()) {
    if (selector->Matches(labels)) names.push_back(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> ListenerHosts(Node listener, std::string_view own_ns, Lookups& lookups) {
  const Node hostname = listener.Find("hostname");
  const std::string_view host = hostname.IsNull() ? "*" : hostname.text();
  std::vector<std::string> hosts;
  for (const std::string& ns : AllowedNamespaces(listener, own_ns, lookups))
    hosts.push_back(StrCat(ns, "/", host));
  if (hosts.empty()) hosts.push_back(StrCat("~/", host));
  return hosts;
}

bool TakesListenerSets(Node gateway, std::string_view gateway_ns, std::string_view set_ns, Lookups& lookups) {
  const Node namespaces = gateway.Find("allowedListeners").Find("namespaces");
  if (namespaces.IsNull()) return false;
  const Node from = namespaces.Find("from");
  if (!from.IsNull()) {
    if (from.text() == "All") return true;
    if (from.text() == "Same") return gateway_ns == set_ns;
    if (from.text() != "Selector") return false;
  }
  const Node selector_node = namespaces.Find("selector");
  if (selector_node.IsNull()) return false;
  const auto selector = ReadSelector(selector_node);
  if (!selector) return false;
  const auto all = lookups.Namespaces();
  const auto found = all.find(set_ns);
  return found != all.end() && selector->Matches(found->second);
}

}  // namespace fairlead::gateway_api
