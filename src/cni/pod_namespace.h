#ifndef FAIRLEAD_CNI_POD_NAMESPACE_H_
#define FAIRLEAD_CNI_POD_NAMESPACE_H_

#include <string>

#include "absl/status/statusor.h"
#include "redirect/program_call.h"

namespace fairlead::cni {

// A pod's network namespace, entered by the thread that made this, until it is destroyed.
class PodNamespace {
 public:
  // `path`: a file of the namespace. Unavailable with the reason.
  static absl::StatusOr<PodNamespace> Enter(const std::string& path);
  PodNamespace(PodNamespace&& other) noexcept;
  PodNamespace& operator=(PodNamespace&&) = delete;
  ~PodNamespace();

  // For programs in it, with their own lock of iptables and, for a pod with users of its own, in its user
  // namespace: the kernel takes numbers of users in rules from nobody else.
  redirect::ProgramSurroundings Inside() const;

 private:
  PodNamespace() = default;
  std::string path_;
  int file_ = -1, before_ = -1, users_ = -1;
};

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_POD_NAMESPACE_H_
