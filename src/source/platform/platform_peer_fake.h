#ifndef FAIRLEAD_SOURCE_PLATFORM_PLATFORM_PEER_FAKE_H_
#define FAIRLEAD_SOURCE_PLATFORM_PLATFORM_PEER_FAKE_H_

#include <functional>
#include <memory>
#include <string>

#include "config/object.h"
#include "source/platform/platform_source.h"

namespace fairlead::source {

// For tests: a platform as the contract of all sources needs it (contract_test.cc).
class PlatformPeerFake {
 public:
  virtual ~PlatformPeerFake() = default;
  // Follows this platform, with short waits.
  virtual std::unique_ptr<PlatformFollower> MakeFollower() = 0;
  // A thing that stands for an object of this name, new or in a new version.
  virtual void Put(const std::string& name, const std::string& version) = 0;
  virtual void Delete(const std::string& name) = 0;
  // A second thing that stands for the same object as Put's, and comes after it.
  virtual void PutTwin(const std::string& name, const std::string& version) = 0;
  // False: each thing stands for an object of its own.
  virtual bool HasTwins() const { return true; }
  // While away it answers nothing; whoever waits for an answer gets none.
  virtual void SetAway(bool away) = 0;
  // It begins anew with its numbers, and has forgotten every change so far.
  virtual void Forget() = 0;
  // As Put has it.
  virtual std::string VersionOf(const config::ConfigObject& object) const = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_PLATFORM_PEER_FAKE_H_
