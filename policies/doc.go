// Package policies gives every service its resilience policy: from defaults, from
// the environment, from a JSON document, field by field.
//
//	reg, err := policies.FromEnv("CLEVERAGENTS", nil)
//	plans := reg.Guard("plan_service") // same name, same guard, same circuit
//
// # Layers
//
// A service's policy is laid in layers, the later one wins, field by field; an
// explicit 0 or false is a value like any other and differs from an absent one:
//
//  1. [resilient.DefaultPolicy]
//  2. the service's own default: a [Patch] in [Defaults], or its Fallback
//  3. the settings for all services: environment variables that are set, or the
//     fields of a [Config]
//  4. the service's override, from the JSON document of overrides
//
// [Registry.Explain] tells which layer each setting came from, and what they all come
// to.
//
// # Keys
//
// Durations are seconds as numbers, or Go duration strings ("1.5s"). P is the
// prefix that [FromEnv] is given.
//
//	key of a Config                    environment variable      default      range
//	retry_max_attempts                 P_RETRY_MAX_ATTEMPTS      3            1 … 100
//	retry_base_delay                   P_RETRY_BASE_DELAY        1            0 … 3600
//	retry_max_delay                    P_RETRY_MAX_DELAY         60           at least base delay and floor, at most 86400
//	retry_jitter                       P_RETRY_JITTER            true
//	retry_backoff_strategy             P_RETRY_BACKOFF_STRATEGY  exponential  see resilient.Backoffs
//	circuit_breaker_failure_threshold  P_CB_FAILURE_THRESHOLD    5            1 … 1000000
//	circuit_breaker_recovery_timeout   P_CB_RECOVERY_TIMEOUT     60           > 0 … 86400
//	circuit_breaker_cooldown           P_CB_COOLDOWN             30           0 … 86400
//	retry_service_overrides            P_RETRY_SERVICE_OVERRIDES {}           at most 10000 characters
//
// P_CB_STORE is read by redisstore.FromEnv, which makes an Options.Store of it: where
// circuits are shared. This package only knows that it is no mistake.
//
// The overrides are a JSON object from service to override:
//
//	{"plan_service": {"retry": {"max_attempts": 5, "base_delay": 2.0}, "circuit_breaker": {"failure_threshold": 3}},
//	 "vector_store_service": {"retry": {"max_attempts": 7, "backoff_strategy": "jitter"}}}
//
//	retry            max_attempts, base_delay, max_delay, jitter, backoff_strategy,
//	                 retry_on_idempotent_only (true), max_retry_after (as max_delay; 0 … 86400)
//	circuit_breaker  enabled (true), failure_threshold, recovery_timeout, cooldown (or cooldown_seconds),
//	                 half_open_max_successes (1; 1 … 100), recovery_multiplier (1; 1 … 100),
//	                 max_recovery_timeout (86400; at least recovery_timeout), probe_lease (0; 0 … 86400),
//	                 min_reporters (1; 1 … 100)
//	store            shared, if there is one; or local
//	total_timeout    300; > 0 … 300
//	attempt_timeout  none; > 0 … 300
//
// # Bad input
//
// Bad input never stops a program and never passes in silence. What cannot be
// used is left out, as little of it as is safe: an unknown key alone; one
// environment variable alone; but a service's override as a whole, since half of
// it may be worse than none. Each such decision is a [Finding]: it is logged, kept
// in [Registry.Findings], and returned by [Validate], which a CI job can call.
package policies
