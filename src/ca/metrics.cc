#include "ca/metrics.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "base/process_metrics.h"
#include "ca/authority.h"

namespace fairlead::ca {

using metrics::GetCounter;
using metrics::GetGauge;

namespace {

metrics::Counter& TokenReviews(const char* verdict) {
  return GetCounter("fairlead_token_reviews_total",
                    "Questions to API servers about tokens; answers that were kept; servers that gave none.",
                    {{"verdict", verdict}});
}

}  // namespace

ServerMetrics& Metrics() {
  static auto* const all = new ServerMetrics{
      GetCounter("citadel_server_csr_count", "The number of CSRs received by Citadel server."),
      GetCounter("citadel_server_authentication_failure_count", "The number of authentication failures."),
      GetCounter("citadel_server_csr_parsing_err_count",
                 "The number of errors occurred when parsing the CSR."),
      GetCounter("citadel_server_success_cert_issuance_count",
                 "The number of certificates issuances that have succeeded."),
      TokenReviews("asked"),
      TokenReviews("kept"),
      TokenReviews("error"),
  };
  // Shown from the start, as zeros.
  static const bool shown = [] {
    for (const auto error :
         {Signed::Error::kUnavailable, Signed::Error::kCsr, Signed::Error::kLifetime, Signed::Error::kFailed})
      SignErrors(error);
    for (const auto refusal : {RefusalReason::kWaiting, RefusalReason::kRate}) RefusedRequests(refusal);
    return true;
  }();
  (void)shown;
  return *all;
}

metrics::Counter& RefusedRequests(RefusalReason refusal) {
  return GetCounter("fairlead_certificate_requests_refused_total",
                    "Requests for certificates that were refused since too many wait, or by their rate.",
                    {{"reason", refusal == RefusalReason::kRate ? "rate" : "waiting"}});
}

metrics::Counter& SignErrors(Signed::Error error) {
  return GetCounter("citadel_server_csr_sign_err_count",
                    "The number of errors occurred when signing the CSR.",
                    {{"error", std::string(LabelOf(error))}});
}

namespace {

std::atomic<int64_t> root_end{0}, chain_end{0};  // Unix seconds, as noted last

// What is left of them.
void ShowExpiry(int64_t now) {
  GetGauge("citadel_server_root_cert_expiry_seconds",
           "The time remaining, in seconds, before the root cert will expire.")
      .Set(static_cast<double>(root_end - now));
  GetGauge("citadel_server_cert_chain_expiry_seconds",
           "The time remaining, in seconds, before the cert chain will expire.")
      .Set(static_cast<double>(chain_end - now));
}

}  // namespace

void NoteExpiry(const Bundle& bundle, int64_t now) {
  root_end = NotAfter(bundle.roots.front());
  GetGauge("citadel_server_root_cert_expiry_timestamp",
           "The unix timestamp, in seconds, when the root cert will expire.")
      .Set(static_cast<double>(root_end));
  // Of a root of our own, its own end.
  int64_t first = NotAfter(bundle.certificate);
  for (const CertificatePtr& one : bundle.chain) first = std::min(first, NotAfter(one));
  chain_end = first;
  GetGauge("citadel_server_cert_chain_expiry_timestamp",
           "The unix timestamp, in seconds, when the cert chain will expire.")
      .Set(static_cast<double>(first));
  ShowExpiry(now);
  static const bool follows = [] {
    metrics::UpdateBeforeShown([] { ShowExpiry(UnixNow()); });
    return true;
  }();
  (void)follows;
}

}  // namespace fairlead::ca
