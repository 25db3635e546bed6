#ifndef FAIRLEAD_DEBUG_TABLES_H_
#define FAIRLEAD_DEBUG_TABLES_H_

#include "debug/pages.h"

// The pages by what they tell about: streams, one stream's configuration, the mesh.
namespace fairlead::debug {

// streams.cc
Page SyncPage(const Sources& sources, const Query& query);
Page AdsPage(const Sources& sources, const Query& query);
Page ConnectionsPage(const Sources& sources, const Query& query);
Page TracksPage(const Sources& sources, const Query& query);

// rejections.cc
Page RejectionsPage(const Sources& sources, const Query& query);

// config_dump.cc
Page ConfigDumpPage(const Sources& sources, const Query& query);
Page EndpointDumpPage(const Sources& sources, const Query& query);
Page NameTableDumpPage(const Sources& sources, const Query& query);
Page ExtensionDumpPage(const Sources& sources, const Query& query);

// mesh.cc
Page RegistryPage(const Sources& sources, const Query& query);
Page EndpointsPage(const Sources& sources, const Query& query);
Page ConfigPage(const Sources& sources, const Query& query);
Page StatusPage(const Sources& sources, const Query& query);
Page MeshPage(const Sources& sources, const Query& query);
Page KindsPage(const Sources& sources, const Query& query);

// proxies.cc
Page SidecarPage(const Sources& sources, const Query& query);
Page OriginsPage(const Sources& sources, const Query& query);
Page InstancesPage(const Sources& sources, const Query& query);
Page CachePage(const Sources& sources, const Query& query);
Page DisconnectPage(const Sources& sources, const Query& query);

// policies.cc
Page DiagnosticsPage(const Sources& sources, const Query& query);
Page PushStatusPage(const Sources& sources, const Query& query);
Page AuthorizationPage(const Sources& sources, const Query& query);
Page TelemetryPage(const Sources& sources, const Query& query);
Page PushContextPage(const Sources& sources, const Query& query);
Page NetworksPage(const Sources& sources, const Query& query);
Page ClustersPage(const Sources& sources, const Query& query);
Page InjectPage(const Sources& sources, const Query& query);
Page AmbientPage(const Sources& sources, const Query& query);

// cluster_set.cc
Page MultiClusterPage(const Sources& sources, const Query& query);

// profile.cc
Page CpuProfilePage(const Sources& sources, const Query& query);
Page HeapPage(const Sources& sources, const Query& query);
Page TransportPage(const Sources& sources, const Query& query);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_TABLES_H_
