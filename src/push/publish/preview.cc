#include "push/publish/preview.h"

#include <array>
#include <string_view>
#include <utility>

#include "xds/name_set.h"

namespace fairlead::push {
namespace {

using xds::TypeId;

// One proxy in both snapshots.
class Comparison {
 public:
  Comparison(ResourceMaker& maker, const StreamReport& report, const mesh::SnapshotPtr& from,
             const mesh::SnapshotPtr& to)
      : report_(report),
        from_(maker.ViewIn(from, report.scope->proxy, report.scope)),
        to_(maker.ViewIn(to, report.scope->proxy, report.scope)) {}

  Preview Run() {
    Preview preview{report_.number, report_.connection, {}};
    for (const xds::TypeInfo& type : xds::kTypes) {
      if (!to_.Serves(type.id) || (report_.only && *report_.only != type.id)) continue;
      xds::DifferencePtr difference = CompareType(type);
      if (difference == nullptr || difference->empty()) continue;
      preview.types.push_back({type.id, std::move(difference)});
    }
    return preview;
  }

 private:
  // Null where the proxy asks for nothing of the type.
  xds::DifferencePtr CompareType(const xds::TypeInfo& type) {
    const xds::TypeStatus& status = report_.Of(type.id).status;
    const xds::NameSetPtr now = status.wildcard ? nullptr : status.names;
    const xds::NameSetPtr then = status.wildcard ? nullptr : NamesThen(type.id, status.names);
    if (!status.subscribed && (then == nullptr || then->empty())) return nullptr;
    const xds::ResourceSetPtr before =
        status.subscribed ? from_.Make(type.id, now) : xds::ResourceSet::Empty();
    then_[Slot(type.id)] = to_.Make(type.id, then);
    return differences_[Slot(type.id)] = xds::Compare(*before, *then_[Slot(type.id)]);
  }

  // What the proxy would ask for, as the resources that refer to the type have changed. They come before it
  // in the table of types.
  xds::NameSetPtr NamesThen(TypeId type, const xds::NameSetPtr& names) const {
    std::vector<std::string_view> added, dropped;
    for (const xds::TypeInfo& parent : xds::kTypes) {
      const xds::DifferencePtr& difference = differences_[Slot(parent.id)];
      if ((parent.children & xds::MaskOf(type)) == 0 || difference == nullptr) continue;
      for (const auto& resource : difference->changed) AppendNames(*resource, type, &added);
      for (const auto* gone : {&difference->replaced, &difference->removed}) {
        for (const auto& resource : *gone) AppendUnreferred(*resource, type, &dropped);
      }
    }
    if (added.empty() && dropped.empty()) return names;
    return xds::NameSet::Changed(names, xds::NameSet::Of(std::move(added)),
                                 xds::NameSet::Of(std::move(dropped)));
  }

  static void AppendNames(const cache::Resource& resource, TypeId type,
                          std::vector<std::string_view>* names) {
    for (const cache::Reference& reference : resource.references) {
      if (reference.type == type) names->push_back(reference.name);
    }
  }

  void AppendUnreferred(const cache::Resource& resource, TypeId type,
                        std::vector<std::string_view>* names) const {
    for (const cache::Reference& reference : resource.references) {
      if (reference.type == type && !IsReferred(reference)) names->push_back(reference.name);
    }
  }

  bool IsReferred(const cache::Reference& reference) const {
    for (const xds::ResourceSetPtr& set : then_) {
      if (set != nullptr && set->RefersTo(reference)) return true;
    }
    return false;
  }

  static size_t Slot(TypeId type) { return static_cast<size_t>(type); }

  const StreamReport& report_;
  const ProxyView from_, to_;
  std::array<xds::ResourceSetPtr, xds::kTypeCount> then_;
  std::array<xds::DifferencePtr, xds::kTypeCount> differences_;
};

}  // namespace

Preview PreviewOf(ResourceMaker& maker, const StreamReport& report, const mesh::SnapshotPtr& from,
                  const mesh::SnapshotPtr& to) {
  return Comparison(maker, report, from, to).Run();
}

std::vector<Preview> PreviewAll(const Pusher& pusher, const mesh::SnapshotPtr& from,
                                const mesh::SnapshotPtr& to) {
  std::vector<Preview> previews;
  for (const StreamReport& report : pusher.Report()) {
    Preview preview = PreviewOf(pusher.maker(), report, from, to);
    if (!preview.types.empty()) previews.push_back(std::move(preview));
  }
  return previews;
}

}  // namespace fairlead::push
