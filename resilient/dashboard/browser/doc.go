// Package browser holds the tests of the dashboard's page in a real browser. They need a
// Chromium; where there is none they are skipped, but fail if CI or STOIC_BROWSER=required
// is set. make chromium gets one.
package browser
