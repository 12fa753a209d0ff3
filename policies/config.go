package policies

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// Config is what is configured: eight settings for all services, and overrides for
// single ones. Nil fields are absent; the zero value configures nothing. It is
// filled in code, or comes from [ParseJSON] or [ParseEnv], or is a field of a
// program's own configuration that encoding/json decodes.
//
// A Config that was parsed remembers what was wrong with its source; [Load] and
// [Validate] report it.
type Config struct {
	RetryMaxAttempts               *int               // 1 … 100
	RetryBaseDelay                 *time.Duration     // 0 … 1 h
	RetryMaxDelay                  *time.Duration     // at least the base delay and the strategy's floor, at most 24 h
	RetryJitter                    *bool              // see resilient.RetryPolicy
	RetryBackoffStrategy           *resilient.Backoff // one of resilient.Backoffs
	CircuitBreakerFailureThreshold *int               // 1 … 1 000 000; 0 is off, for services with another rule
	CircuitBreakerRecoveryTimeout  *time.Duration     // > 0 … 24 h
	CircuitBreakerCooldown         *time.Duration     // 0 … 24 h
	// RetryServiceOverrides are by the service's name. A name that no default knows
	// registers a service, on top of Defaults.Fallback.
	RetryServiceOverrides map[string]Patch

	prefix   string    // of the environment variables it comes from, or ""
	findings []Finding // what was wrong with its source
}

// keyOverrides is the ninth key, which is no field of a policy.
const (
	keyOverrides      = "retry_service_overrides"
	variableOverrides = "RETRY_SERVICE_OVERRIDES"
)

// patch is the settings for all services. It shares what the Config points to.
func (c *Config) patch() Patch {
	return Patch{
		Retry: RetryPatch{
			MaxAttempts: c.RetryMaxAttempts,
			BaseDelay:   c.RetryBaseDelay,
			MaxDelay:    c.RetryMaxDelay,
			Jitter:      c.RetryJitter,
			Backoff:     c.RetryBackoffStrategy,
		},
		Circuit: CircuitPatch{
			FailureThreshold: c.CircuitBreakerFailureThreshold,
			RecoveryTimeout:  c.CircuitBreakerRecoveryTimeout,
			Cooldown:         c.CircuitBreakerCooldown,
		},
	}
}

// setPatch is the inverse of patch.
func (c *Config) setPatch(p Patch) {
	c.RetryMaxAttempts = p.Retry.MaxAttempts
	c.RetryBaseDelay = p.Retry.BaseDelay
	c.RetryMaxDelay = p.Retry.MaxDelay
	c.RetryJitter = p.Retry.Jitter
	c.RetryBackoffStrategy = p.Retry.Backoff
	c.CircuitBreakerFailureThreshold = p.Circuit.FailureThreshold
	c.CircuitBreakerRecoveryTimeout = p.Circuit.RecoveryTimeout
	c.CircuitBreakerCooldown = p.Circuit.Cooldown
}

// where is what the author of the Config calls a field.
func (c *Config) where(f *field) string {
	if c.prefix != "" {
		return c.prefix + "_" + f.variable
	}
	return f.config
}

// checked returns the usable part of the Config, sharing nothing with it, and what
// is wrong with the rest. Values set in code go through the same ranges as parsed
// ones, so that a bad number does no more harm than a bad variable.
func (c *Config) checked() (all Patch, overrides map[string]Patch, found []Finding) {
	all = c.patch().clone()
	for i := range fields {
		f := &fields[i]
		if bad := f.check(&all); bad != nil {
			f.clear(&all)
			found = append(found, newFinding("", c.where(f), bad.kind, bad.text+"; it is skipped"))
		}
	}
	overrides = make(map[string]Patch, len(c.RetryServiceOverrides))
	for _, service := range slices.Sorted(maps.Keys(c.RetryServiceOverrides)) {
		patch := c.RetryServiceOverrides[service].clone()
		usable := service != ""
		if !usable {
			found = append(found, newFinding("", keyOverrides, KindIgnored, "an override for a service without a name is ignored"))
		}
		for i := range fields {
			if bad := fields[i].check(&patch); bad != nil {
				usable = false
				found = append(found, newFinding(service, fields[i].path(), bad.kind, bad.text+overrideSkipped))
			}
		}
		if usable {
			overrides[service] = patch
		}
	}
	return all, overrides, found
}

// MarshalJSON writes the Config as the document that [ParseJSON] reads, durations
// in seconds.
func (c Config) MarshalJSON() ([]byte, error) {
	doc := map[string]any{}
	all := c.patch()
	for i := range fields {
		if f := &fields[i]; f.config != "" && f.isSet(&all) {
			doc[f.config] = f.wire(&all)
		}
	}
	if len(c.RetryServiceOverrides) > 0 {
		overrides := map[string]any{}
		for service, patch := range c.RetryServiceOverrides {
			overrides[service] = patch.wire()
		}
		doc[keyOverrides] = overrides
	}
	return json.Marshal(doc)
}

// UnmarshalJSON is [ParseJSON], so it returns an error for nothing that can be
// passed over and reported. null leaves the Config as it is.
func (c *Config) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		*c = ParseJSON(data)
	}
	return nil
}

// wire is the patch as an override has it.
func (p Patch) wire() map[string]any {
	out := map[string]any{}
	for i := range fields {
		f := &fields[i]
		if !f.isSet(&p) {
			continue
		}
		if f.section == "" {
			out[f.key] = f.wire(&p)
			continue
		}
		section, ok := out[f.section].(map[string]any)
		if !ok {
			section = map[string]any{}
			out[f.section] = section
		}
		section[f.key] = f.wire(&p)
	}
	return out
}
