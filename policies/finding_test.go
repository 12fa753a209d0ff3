package policies_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// R20: what is skipped is logged, once, as a warning that names the place.
func TestFindingsAreLogged(t *testing.T) {
	options, out := logged()
	reg, err := policies.FromEnv("P", &policies.Options{Options: options, LookupEnv: lookupIn(map[string]string{
		"P_RETRY_MAX_ATTEMPTS": "0", "P_RETRY_SERVICE_OVERRIDES": `{"x":{"retry":{"max_retries":3}},"y":[]}`,
	})})
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3)
	for i, place := range []string{
		`key=P_RETRY_MAX_ATTEMPTS kind=out_of_range`,
		`service=x key=retry.max_retries kind=unknown_key`,
		`service=y kind=wrong_type`,
	} {
		assert.Contains(t, lines[i], "level=WARN")
		assert.Contains(t, lines[i], place)
	}
	assert.Equal(t, []string{
		"P_RETRY_MAX_ATTEMPTS: is 0, want 1 … 100; it is skipped",
		`x: retry.max_retries: there is no such setting (did you mean "max_attempts"?); it is ignored`,
		"y: is an array, want an object; the override of the service is skipped",
	}, []string{reg.Findings()[0].String(), reg.Findings()[1].String(), reg.Findings()[2].String()})
}

// Without a logger slog.Default() is used, as it is at that moment.
func TestFindingsGoToTheDefaultLogger(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	options, out := logged()
	slog.SetDefault(options.Logger)
	_, err := policies.Load(policies.ParseJSON([]byte(`{"x":1}`)), nil)
	require.NoError(t, err)
	assert.Contains(t, out.String(), "unknown_key")
}

// Validate finds what loading would, and makes and logs nothing.
func TestValidate(t *testing.T) {
	options, out := logged()
	o := &policies.Options{Options: options, LookupEnv: lookupIn(map[string]string{
		"P_RETRY_MAX_DELAY": "0.5", "P_CB_COOLDOWN": "x", "P_RETRY_SERVICE_OVERRIDES": `{"x":{"total_timeout":0}}`,
	})}
	c, err := policies.ParseEnv("P", o)
	require.NoError(t, err)
	found, err := policies.Validate(c, o)
	require.NoError(t, err)
	assert.Empty(t, out.String())
	reg, err := policies.FromEnv("P", o)
	require.NoError(t, err)
	assert.Equal(t, reg.Findings(), found)
	again, err := policies.Validate(c, o)
	require.NoError(t, err)
	assert.Equal(t, found, again, "P19: nothing is used up")
}

// What somebody put into the wrong place may be a secret: no text of a value is
// ever repeated, and names of services and keys go through the sanitiser.
func TestFindingsHideSecrets(t *testing.T) {
	const secret = "F4KEs3cr3t"
	reg := fromEnv(t, map[string]string{
		"P_RETRY_MAX_ATTEMPTS":     secret,
		"P_RETRY_BASE_DELAY":       secret,
		"P_RETRY_JITTER":           secret,
		"P_RETRY_BACKOFF_STRATEGY": secret,
		"P_CB_ENABLED":             secret,
		"P_RETRY_SERVICE_OVERRIDES": `{"postgres://user:` + secret + `@db":3,"a":"` + secret + `",
			"b":{"retry":{"max_attempts":"` + secret + `","base_delay":"` + secret + `","backoff_strategy":"` + secret + `"}},
			"c":{"password=` + secret + `":1,"service_name":"` + secret + `"}}`,
	})
	assert.Len(t, reg.Findings(), 12)
	for _, doc := range []string{secret, `{"a":` + secret + `}`, `{"` + secret, `["` + secret + `"]`} {
		reg2 := fromOverrides(t, doc)
		assert.Len(t, reg2.Findings(), 1)
		assertNoText(t, reg2.Findings(), secret)
		found, err := policies.Validate(policies.ParseJSON([]byte(doc)), nil)
		require.NoError(t, err)
		assertNoText(t, found, secret)
	}
	assertNoText(t, reg.Findings(), secret)
}

func assertNoText(t *testing.T, found []policies.Finding, text string) {
	t.Helper()
	all, err := json.Marshal(found)
	require.NoError(t, err)
	assert.NotContains(t, string(all), text)
}

// A name from outside cannot forge a line of a report.
func TestFindingIsOneLine(t *testing.T) {
	options, out := logged()
	reg, err := policies.Load(policies.ParseJSON([]byte(`{"retry_service_overrides":{"a\nb: fine":{"x\r\ny":1}},"z\n":1}`)), &policies.Options{Options: options})
	require.NoError(t, err)
	for _, f := range reg.Findings() {
		assert.NotContains(t, f.String(), "\n")
		assert.NotContains(t, f.String(), "\r")
	}
	assert.Equal(t, 2, strings.Count(out.String(), "\n"))
}

// Messages are whole sentences: none of ours is so long that it is cut.
func TestMessagesAreNotCut(t *testing.T) {
	reg := fromEnv(t, map[string]string{
		"P_RETRY_BACKOFF_STRATEGY": "linear_increasin", "P_RETRY_MAX_DELAY": "0.099999999", "P_CB_ENABLED": "1",
		"P_RETRY_SERVICE_OVERRIDES": `{"x":{"retry":{"backoff_strategy":"linear_increasin","base_delay":"3599.999999999s"}},
			"y":{"retry":{"base_delay":"59m59.999999999s","max_delay":0}},
			"z":{"circuit_breaker":{"max_recovery_timeout":"59m59.999999999s","recovery_timeout":"23h59m59.999999999s"}}}`,
	})
	assert.NotEmpty(t, reg.Findings())
	for _, f := range reg.Findings() {
		assert.False(t, strings.HasSuffix(f.Message, "..."), f.Message)
	}
}

// A logger that panics stops neither the program at its start nor a call on its way.
func TestALoggerThatPanicsStopsNothing(t *testing.T) {
	options := &policies.Options{Options: resilient.Options{Logger: new(slog.Logger)}, MaxLazyGuards: 1}
	require.NotPanics(t, func() {
		reg, err := policies.Load(policies.ParseJSON([]byte(`{"retry_jitter":true,"x":1}`)), options)
		require.NoError(t, err)
		reg.Guard("a")
		reg.Guard("b")
		assert.Len(t, reg.Findings(), 2)
	})
}
