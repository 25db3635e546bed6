#include "xds/request.h"

#include "base/hash.h"
#include "xds/wire.h"

namespace fairlead::xds {
namespace {

constexpr char kNamesTag = 3 << 3 | 2;  // DiscoveryRequest.resource_names

bool DecodeStatus(std::string_view bytes, DecodedRequest* request) {  // google.rpc.Status
  FieldReader reader(bytes);
  request->rejected = true;
  while (reader.Next()) {
    if (reader.number() == 1) request->error_code = static_cast<int>(reader.varint());
    if (reader.number() == 2) request->error_message = reader.bytes();
  }
  return reader.ok();
}

bool DecodeVersionEntry(std::string_view bytes, DecodedRequest* request) {  // map<string, string>
  FieldReader reader(bytes);
  std::pair<std::string_view, std::string_view> entry;
  while (reader.Next()) {
    if (reader.number() == 1) entry.first = reader.bytes();
    if (reader.number() == 2) entry.second = reader.bytes();
  }
  request->initial_versions.push_back(entry);
  return reader.ok();
}

std::string_view DecodeLocator(std::string_view bytes) {  // ResourceLocator.name
  FieldReader reader(bytes);
  std::string_view name;
  while (reader.Next()) {
    if (reader.number() == 1) name = reader.bytes();
  }
  return name;
}

bool TakeNode(std::string_view bytes, DecodedRequest* request) {
  request->has_node = true;
  request->node = bytes;
  return true;
}

bool TakeStateOfTheWorldField(const FieldReader& field, DecodedRequest* request) {
  switch (field.number()) {
    case 1:
      request->version = field.bytes();
      break;
    case 2:
      return TakeNode(field.bytes(), request);
    case 3:
      request->subscribe.push_back(field.bytes());
      break;
    case 4:
      request->type_url = field.bytes();
      break;
    case 5:
      request->nonce = field.bytes();
      break;
    case 6:
      return DecodeStatus(field.bytes(), request);
    case 7:
      request->subscribe.push_back(DecodeLocator(field.bytes()));
      break;
    default:
      break;
  }
  return true;
}

bool TakeDeltaField(const FieldReader& field, DecodedRequest* request) {
  switch (field.number()) {
    case 1:
      return TakeNode(field.bytes(), request);
    case 2:
      request->type_url = field.bytes();
      break;
    case 3:
      request->subscribe.push_back(field.bytes());
      break;
    case 4:
      request->unsubscribe.push_back(field.bytes());
      break;
    case 5:
      return DecodeVersionEntry(field.bytes(), request);
    case 6:
      request->nonce = field.bytes();
      break;
    case 7:
      return DecodeStatus(field.bytes(), request);
    case 8:
      request->subscribe.push_back(DecodeLocator(field.bytes()));
      break;
    case 9:
      request->unsubscribe.push_back(DecodeLocator(field.bytes()));
      break;
    default:
      break;
  }
  return true;
}

bool BeginsWithName(std::string_view bytes) { return !bytes.empty() && bytes.front() == kNamesTag; }

// Those of `known` that `rest` begins with, if no other name follows them.
std::optional<KnownNames> FindKnown(std::string_view rest, std::span<const KnownNames> known) {
  for (const KnownNames& names : known) {
    if (names.size == 0 || names.size > rest.size() || BeginsWithName(rest.substr(names.size))) continue;
    if (KnownNames::Of(rest.substr(0, names.size)) == names) return names;
  }
  return std::nullopt;
}

bool DecodeDelta(std::string_view bytes, DecodedRequest* request) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (!TakeDeltaField(reader, request)) return false;
  }
  return reader.ok();
}

bool DecodeStateOfTheWorld(std::string_view bytes, std::span<const KnownNames> known,
                           DecodedRequest* request) {
  FieldReader reader(bytes);
  std::string_view& names = request->encoded_names;
  bool together = true;
  for (std::string_view rest = reader.rest();; rest = reader.rest()) {
    if (names.empty() && BeginsWithName(rest)) {
      request->known_names = FindKnown(rest, known);
      if (request->known_names) {
        names = rest.substr(0, request->known_names->size);
        reader.Skip(names.size());
        continue;
      }
    }
    if (!reader.Next()) break;
    if (!TakeStateOfTheWorldField(reader, request)) return false;
    const bool follows = BeginsWithName(rest) && (names.empty() || names.end() == rest.begin());
    if (follows) {
      const size_t size = static_cast<size_t>(reader.rest().begin() - rest.begin());
      names = names.empty() ? rest.substr(0, size) : std::string_view(names.data(), names.size() + size);
    } else if (reader.number() == 3 || reader.number() == 7) {
      together = false;
    }
  }
  if (!together) names = {};
  return reader.ok();
}

}  // namespace

KnownNames KnownNames::Of(std::string_view encoded) { return {encoded.size(), StableHash(encoded)}; }

absl::StatusOr<DecodedRequest> DecodeRequest(Framing framing, std::string_view bytes,
                                             std::span<const KnownNames> known) {
  DecodedRequest request;
  const bool ok = framing == Framing::kDelta ? DecodeDelta(bytes, &request)
                                             : DecodeStateOfTheWorld(bytes, known, &request);
  if (!ok) return absl::InvalidArgumentError("the request is no discovery request");
  // More names elsewhere in the message: together they are others.
  if (request.known_names && !request.subscribe.empty()) return DecodeRequest(framing, bytes);
  return request;
}

}  // namespace fairlead::xds
