package httpguard

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter reads the Retry-After header: seconds, which may have a fraction, or a date,
// which counts from the response's own Date where it has one, so that clocks need not
// agree. A date that has passed is 0. It is negative, as [resilient.RetryAfter] has it
// for what nobody can wait, where it is more than Go's durations can hold, negative, or
// neither a number nor a date. Of several the strictest holds. ok is false where there is
// none.
func RetryAfter(header http.Header) (after time.Duration, ok bool) {
	for _, value := range header.Values("Retry-After") {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		wait := parseWait(value, header.Get("Date"))
		if !ok || wait < 0 || after >= 0 && wait > after {
			after = wait
		}
		ok = true
	}
	return after, ok
}

// nobodyCan is a wait that ends the call.
const nobodyCan = -time.Nanosecond

func parseWait(value, date string) time.Duration {
	if strings.Trim(value, "0123456789.") == "" {
		seconds, err := strconv.ParseFloat(value, 64)
		if ns := math.Ceil(seconds * float64(time.Second)); err == nil && ns < math.MaxInt64 {
			return time.Duration(ns)
		}
		return nobodyCan
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return nobodyCan
	}
	now, err := http.ParseTime(date)
	if err != nil {
		now = time.Now()
	}
	return max(until.Sub(now), 0) // Sub saturates
}
