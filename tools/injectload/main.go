// Asks an injection webhook the same question at a steady rate, and tells how long the answers take.
//
//	injectload --url https://127.0.0.1:15017/inject --review FILE [--rate 300] [--seconds 10]
//
// It exits with 1 if an answer is no permission, or if more than one in a hundred takes longer than --p99.
package main

import (
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"
)

type result struct {
	took    time.Duration
	allowed bool
}

func main() {
	url := flag.String("url", "", "the webhook")
	review := flag.String("review", "", "file with an AdmissionReview")
	rate := flag.Int("rate", 300, "questions a second, at most 5000")
	seconds := flag.Int("seconds", 10, "at most 120")
	limit := flag.Duration("p99", 20*time.Millisecond, "the most that 99 of 100 answers may take")
	flag.Parse()
	body, err := os.ReadFile(*review)
	if err != nil || *rate < 1 || *rate > 5000 || *seconds < 1 || *seconds > 120 {
		fmt.Fprintln(os.Stderr, "injectload: wrong call:", err)
		os.Exit(2)
	}
	results := ask(*url, body, *rate, *rate**seconds)
	sort.Slice(results, func(i, j int) bool { return results[i].took < results[j].took })
	refused := 0
	for _, one := range results {
		if !one.allowed {
			refused++
		}
	}
	at := func(percent int) time.Duration { return results[(len(results)-1)*percent/100].took }
	fmt.Printf("%d answers, %d refused, p50 %v, p90 %v, p99 %v, longest %v\n", len(results), refused, at(50), at(90), at(99), at(100))
	if refused > 0 || at(99) > *limit {
		os.Exit(1)
	}
}

// The times count from the moment at which a question was due, also if the one before it took long.
func ask(url string, body []byte, rate, count int) []result {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 4,
	}}
	results := make([]result, count)
	var all sync.WaitGroup
	begin := time.Now().Add(200 * time.Millisecond)
	for i := range results {
		due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		all.Add(1)
		go func() {
			defer all.Done()
			allowed := post(client, url, body)
			results[i] = result{time.Since(due), allowed}
		}()
	}
	all.Wait()
	return results
}

func post(client *http.Client, url string, body []byte) bool {
	answer, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	return err == nil && answer.StatusCode == 200 && bytes.Contains(text, []byte(`"allowed":true`))
}
