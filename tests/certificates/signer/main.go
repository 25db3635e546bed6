// Command signer is CFSSL's own handler of signing requests, for one authority:
//
//	signer -addr 127.0.0.1:8888 -cert ca-cert.pem -key ca-key.pem -token FILE [-lifetime 1h]
//
// POST /api/v1/cfssl/sign, for who shows the token of the file.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/cloudflare/cfssl/api/signhandler"
	"github.com/cloudflare/cfssl/config"
	"github.com/cloudflare/cfssl/signer/local"
)

func main() {
	addr := flag.String("addr", "", "HOST:PORT to listen on")
	cert := flag.String("cert", "", "file of the certificate that signs")
	key := flag.String("key", "", "file of its key")
	token := flag.String("token", "", "file of what callers must show")
	lifetime := flag.Duration("lifetime", time.Hour, "of certificates")
	flag.Parse()
	secret, err := os.ReadFile(*token)
	if err != nil {
		log.Fatal(err)
	}
	policy := &config.Signing{Default: config.DefaultConfig()}
	policy.Default.Usage = []string{"signing", "key encipherment", "server auth", "client auth"}
	policy.Default.Expiry = *lifetime
	policy.Default.Backdate = time.Minute
	authority, err := local.NewSignerFromFile(*cert, *key, policy)
	if err != nil {
		log.Fatal(err)
	}
	sign, err := signhandler.NewHandlerFromSigner(authority)
	if err != nil {
		log.Fatal(err)
	}
	wanted := "Bearer " + strings.TrimSpace(string(secret))
	http.HandleFunc("/api/v1/cfssl/sign", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != wanted {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		sign.ServeHTTP(w, r)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
