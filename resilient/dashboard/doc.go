// Package dashboard shows operators what their guards are doing, and lets those who may
// steer them.
//
//	meter := dashboard.NewMeter() // counts calls: a resilient.Observer
//	services, err := policies.FromEnv("SHOP", &policies.Options{
//		Options: resilient.Options{Observers: []resilient.Observer{meter}},
//	})
//	board := dashboard.New(services, &dashboard.Options{Meter: meter})
//	http.Handle("/circuits/", http.StripPrefix("/circuits", board))
//	http.Handle("/metrics", dashboard.Metrics(services, meter))
//
// [Dashboard] is one page with a tile for each guard: the state of its circuit by colour,
// by sign and by word, since when and until when and why, and its traffic of the last two
// minutes. Each guard has a page of its own, with its policy, when its attempts are made,
// its transitions, and, where [Options].Control allows it, a form that steers its circuit.
// [Metrics] is the same for Prometheus.
//
// # What is shown
//
// The state is read from the circuit itself at the moment when it is shown, so it is right
// without traffic: an open circuit whose time has passed is "probe due". What a [Meter]
// has counted is of this process alone, and begins with the meter:
//
//	calls/s      calls that ended, those that were refused at once among them; mean of 10 s
//	errors       failed attempts and refused calls, of those, the successes; of 10 s
//	attempts     attempts for each call that ended after at least one; of 10 s
//	p50 p90 p99  how long such calls took, waits included; of a minute, to an eighth or better
//	the line     attempts and refused calls by the second, and those of them that were errors
//
// A permit that is held by hand (Guard.Acquire) is a call of one attempt. A circuit that only
// observes says so beside its state. The list of what happened names the rule that opened a
// circuit and what its window held, and a store that is lost or back, once for all its guards
// within ten seconds.
//
// # What is kept out
//
// Whoever reaches the handler sees all guards and the texts of their last errors, with
// secrets taken out: put it behind the authentication that your program has. Nothing on it
// comes from elsewhere, nothing inline runs, and no other site may frame it. A page is sent
// what has changed, once a second; one that takes longer than 5 s to receive that is
// dropped. No request makes a guard, and there is no goroutine but those of the requests.
package dashboard
