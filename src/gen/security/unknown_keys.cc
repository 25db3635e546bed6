#include "gen/security/unknown_keys.h"

#include "base/strings.h"

namespace fairlead::gen::security {
namespace {

constexpr std::string_view kModulus =
    "0xObjM0UvS_oaazjpEYlAbwctEJ4L8pH3OuTb7qth7gUwqet-EzQB4dgFdvSdMgrLnSncQGRjpEYz3F3viIbH-3EN3"
    "TxSlPNviHxeOdyiBVfumN8dMxbLvVJUpfNOnvmMxJcl-8NNjAwcOjk4otSALaYgYYyOPyvKtgVdrQr-FoubWX4yrjx"
    "W-MJ2-7OBeepUUNOsVwGV23YX03sVkkyvY3otRflkBcY3_HKpBxJl9wk2GyOShN4_PNUF9-vwfnvOXMbCDX-w4PTef"
    "4geeb_GiT40YCKHTKMSPVanGRn5GExIWmki-mmqh94-mPTJyBR74ShspL3BxPZitDL574T1w";

}  // namespace

const std::string& UnknownKeys() {
  static const auto* const keys = new std::string(
      StrCat("{\n  \"keys\": [\n    {\n      \"kty\": \"RSA\",\n      \"e\": \"AQAB\",\n      \"n\": \"",
             kModulus, "\"\n    }\n  ]\n}"));
  return *keys;
}

}  // namespace fairlead::gen::security
