#ifndef FAIRLEAD_CA_METRICS_H_
#define FAIRLEAD_CA_METRICS_H_

#include "base/metrics.h"
#include "ca/bundle.h"
#include "ca/signer.h"

// Istio's metrics of certificates, under its names.
namespace fairlead::ca {

struct ServerMetrics {
  metrics::Counter& requests;                 // citadel_server_csr_count
  metrics::Counter& authentication_failures;  // citadel_server_authentication_failure_count
  metrics::Counter& unreadable;               // citadel_server_csr_parsing_err_count
  metrics::Counter& issued;                   // citadel_server_success_cert_issuance_count
  // fairlead_token_reviews_total, by who has answered
  metrics::Counter &token_reviews, &token_reviews_kept, &token_review_errors;
};
ServerMetrics& Metrics();
// The reason of a refusal before signing: too many requests of one peer or of all wait, or the requester
// exceeds its rate.
enum class RefusalReason { kWaiting, kRate };
metrics::Counter& RefusedRequests(RefusalReason refusal);  // fairlead_certificate_requests_refused_total
metrics::Counter& SignErrors(Signed::Error error);         // citadel_server_csr_sign_err_count

// When the first root and the chain end: citadel_server_root_cert_expiry_timestamp and the like. To be called
// every now and then, as some count down.
void NoteExpiry(const Bundle& bundle, int64_t now);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_METRICS_H_
