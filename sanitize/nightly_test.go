//go:build nightly

package sanitize_test

// nightly says whether the tests run at length.
const nightly = true
