#ifndef FAIRLEAD_GEN_NAME_TABLE_INPUTS_H_
#define FAIRLEAD_GEN_NAME_TABLE_INPUTS_H_

#include <utility>
#include <vector>

#include "base/interned.h"
#include "mesh/view/view.h"
#include "model/endpoint.h"
#include "model/service.h"
#include "model/service_addresses.h"

namespace fairlead::gen {

// The attributes of a proxy that its name table depends on.
struct NameTableClient {
  model::AddressView addresses;
  Interned network;                      // "": every network is its own
  Interned cluster;                      // likewise
  bool headless_of_all_clusters = true;  // of headless services the other clusters' endpoints count, too

  friend bool operator==(const NameTableClient&, const NameTableClient&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const NameTableClient& c) {
    return H::combine(std::move(h), c.addresses, c.network, c.cluster, c.headless_of_all_clusters);
  }
};

// Everything that a name table is made from.
struct NameTableInputs {
  struct Entry {
    model::ServicePtr service;
    model::ServiceEndpointsPtr endpoints;  // of services without an address of their own; else null

    friend bool operator==(const Entry&, const Entry&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Entry& e) {
      return H::combine(std::move(h), e.service, e.endpoints);
    }
  };
  std::vector<Entry> services;  // of all egress listeners, in their order: a service may come twice
  NameTableClient client;

  friend bool operator==(const NameTableInputs&, const NameTableInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const NameTableInputs& i) {
    return H::combine(std::move(h), i.services, i.client);
  }
};

NameTableInputs CollectNameTable(mesh::View& view);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAME_TABLE_INPUTS_H_
