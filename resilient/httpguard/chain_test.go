package httpguard_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

// What makes the test binary a process of the chain: the server that it calls, and whom it trusts.
const (
	chainNext  = "STOIC_CHAIN_NEXT"
	chainTrust = "STOIC_CHAIN_TRUST"
)

// serveChain is one service of a chain: it answers what the next one answers, which it calls up to three times. It ends
// with its standard input.
func serveChain() int {
	guard, err := resilient.NewGuard("next", policy(), &resilient.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fail(err)
	}
	transport, err := httpguard.New(&httpguard.Options{Guards: httpguard.One(guard)})
	if err != nil {
		return fail(err)
	}
	client := &http.Client{Transport: transport}
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := http.NewRequestWithContext(r.Context(), http.MethodGet, os.Getenv(chainNext), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		resp, err := client.Do(next)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	})
	if os.Getenv(chainTrust) != "" {
		handler = httpguard.Middleware(handler, httpguard.Anyone)
	} else {
		handler = httpguard.Middleware(handler, nil)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fail(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() { fmt.Fprintln(os.Stderr, http.Serve(listener, handler)) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// startChain starts a process of the chain and returns its address.
func startChain(t *testing.T, next string, trust string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), chainNext+"="+next, chainTrust+"="+trust)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = input.Close() // which ends it
		assert.NoError(t, cmd.Wait())
	})
	address, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}

// A61, P126: three services in three processes, each with three attempts, and what the last one calls fails.
func TestA61P126RetriesDoNotMultiplyAcrossProcesses(t *testing.T) {
	for name, test := range map[string]struct {
		trust string
		calls int64
	}{"with the header": {"yes", 3}, "without it": {"", 27}} {
		t.Run(name, func(t *testing.T) {
			bottom := serve(t, status(http.StatusServiceUnavailable, "down"))
			address := bottom.URL
			for range 3 {
				address = startChain(t, address, test.trust)
			}
			resp, err := http.Get(address)
			require.NoError(t, err)
			assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
			assert.Equal(t, "down", read(t, resp))
			assert.Equal(t, test.calls, bottom.requests.Load())
		})
	}
}
