#include "proto/descriptors.h"

#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "absl/base/internal/raw_logging.h"

// The bytes that fairlead_embed() in CMake puts into this library.
#define FAIRLEAD_EMBEDDED(name)                    \
  extern "C" const char fairlead_##name##_begin[]; \
  extern "C" const char fairlead_##name##_end[];

FAIRLEAD_EMBEDDED(whole_api)
FAIRLEAD_EMBEDDED(kubernetes)
FAIRLEAD_EMBEDDED(gateway_api_standard)
FAIRLEAD_EMBEDDED(gateway_api_experimental)
FAIRLEAD_EMBEDDED(istio)

#undef FAIRLEAD_EMBEDDED

namespace fairlead::proto {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::EncodedDescriptorDatabase;
using google::protobuf::io::CodedInputStream;

std::string_view Bytes(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

// A pool over an encoded FileDescriptorSet. The database indexes names and points into the set, so the pool
// holds descriptors of the files alone that somebody looked up.
class EmbeddedPool {
 public:
  explicit EmbeddedPool(std::string_view set) : pool_(&database_) {
    CodedInputStream in(reinterpret_cast<const uint8_t*>(set.data()), static_cast<int>(set.size()));
    while (in.ReadTag() != 0) {
      uint32_t size = 0;
      ABSL_RAW_CHECK(in.ReadVarint32(&size), "embedded descriptor set is cut off");
      const char* file = set.data() + in.CurrentPosition();
      ABSL_RAW_CHECK(database_.Add(file, static_cast<int>(size)),
                     "embedded descriptor set names a symbol twice");
      in.Skip(static_cast<int>(size));
    }
  }

  const DescriptorPool& pool() const { return pool_; }

 private:
  EncodedDescriptorDatabase database_;
  DescriptorPool pool_;
};

}  // namespace

const DescriptorPool& WholeApiPool() {
  static const auto& pool = *new EmbeddedPool(Bytes(fairlead_whole_api_begin, fairlead_whole_api_end));
  return pool.pool();
}

google::protobuf::MessageFactory& WholeApiMessages() {
  static auto& factory = *new google::protobuf::DynamicMessageFactory(&WholeApiPool());
  return factory;
}

const DescriptorPool& KubernetesApiPool() {
  static const auto& pool = *new EmbeddedPool(Bytes(fairlead_kubernetes_begin, fairlead_kubernetes_end));
  return pool.pool();
}

std::string_view GatewayApiCrds(GatewayApiChannel channel) {
  return channel == GatewayApiChannel::kStandard
             ? Bytes(fairlead_gateway_api_standard_begin, fairlead_gateway_api_standard_end)
             : Bytes(fairlead_gateway_api_experimental_begin, fairlead_gateway_api_experimental_end);
}

std::string_view IstioCrds() { return Bytes(fairlead_istio_begin, fairlead_istio_end); }

}  // namespace fairlead::proto
