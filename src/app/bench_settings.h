#ifndef FAIRLEAD_APP_BENCH_SETTINGS_H_
#define FAIRLEAD_APP_BENCH_SETTINGS_H_

#include <memory>
#include <utility>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "model/settings.h"

namespace fairlead::app {

// For benchmarks: the settings of a mesh whose sidecars have listeners.
inline model::SettingsPtr BenchSettings() {
  auto settings = std::make_shared<model::Settings>();
  auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
  mesh->set_proxy_listen_port(15001);
  mesh->set_proxy_inbound_listen_port(15006);
  settings->mesh = std::move(mesh);
  settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
  return settings;
}

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_BENCH_SETTINGS_H_
