#ifndef FAIRLEAD_GATEWAY_API_DEPLOYMENT_OBJECTS_H_
#define FAIRLEAD_GATEWAY_API_DEPLOYMENT_OBJECTS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "gateway_api/gateway_class.h"

// The objects that Istio's controller makes of a Gateway, one by one. Pure. Source: Istio's kube-gateway
// template.
namespace fairlead::gateway_api {

// A Gateway that is deployed, with the names that its objects have.
struct Deployment {
  config::ConfigPtr gateway;
  GatewayClass gateway_class;
  std::string name;                     // of the Service
  std::string account;                  // of the Pods
  std::vector<config::ConfigPtr> sets;  // ListenerSets that name the Gateway
};

// `addresses`: those of its proxies. REQUIRES: the Gateway is managed.
config::ConfigPtr MakeGatewayService(const Deployment& deployment, const std::set<std::string>& addresses);

// A ready Pod for the proxy at an address, which the Service's selector picks, and its name for the address
// of this number, from 0.
config::ConfigPtr MakeGatewayPod(const Deployment& deployment, const LabelMap& selector, size_t number,
                                 const std::string& address);
std::string GatewayPodName(std::string_view deployment, size_t number);

// The Pod as one of the Gateway's: with its labels.
config::ConfigPtr WithGatewayLabels(const config::ConfigObject& pod, const Deployment& deployment);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_DEPLOYMENT_OBJECTS_H_
