package policies_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// lookupIn is an environment of its own, so that tests run in parallel.
func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func quiet() resilient.Options {
	return resilient.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// fromEnv loads a registry from variables with prefix P.
func fromEnv(t *testing.T, env map[string]string) *policies.Registry {
	t.Helper()
	reg, err := policies.FromEnv("P", &policies.Options{Options: quiet(), LookupEnv: lookupIn(env)})
	require.NoError(t, err)
	return reg
}

// fromOverrides loads a registry from a document of overrides.
func fromOverrides(t *testing.T, doc string) *policies.Registry {
	t.Helper()
	return fromEnv(t, map[string]string{"P_RETRY_SERVICE_OVERRIDES": doc})
}

// load loads a registry from a Config.
func load(t *testing.T, c policies.Config, defaults *policies.Defaults) *policies.Registry {
	t.Helper()
	reg, err := policies.Load(c, &policies.Options{Options: quiet(), Defaults: defaults})
	require.NoError(t, err)
	return reg
}

// brief is a finding without its words.
type brief struct {
	service, key string
	kind         policies.Kind
}

func briefs(found []policies.Finding) []brief {
	var all []brief
	for _, f := range found {
		all = append(all, brief{f.Service, f.Key, f.Kind})
	}
	return all
}

// changed is a policy of the database category with changes.
func changed(change func(*resilient.Policy)) resilient.Policy {
	p := policies.Database().Apply(resilient.DefaultPolicy())
	if change != nil {
		change(&p)
	}
	return p
}

// logged collects what is logged.
func logged() (resilient.Options, *bytes.Buffer) {
	var out bytes.Buffer
	return resilient.Options{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))}, &out
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func nested(depth int) string {
	var b bytes.Buffer
	for range depth {
		b.WriteString(`{"a":`)
	}
	fmt.Fprint(&b, "1")
	for range depth {
		b.WriteString("}")
	}
	return b.String()
}
