package policies

// Setting is one setting of a service in force, and why it is what it is. It is a
// plain value.
type Setting struct {
	// Key is the setting's path in an override, such as "retry.max_attempts".
	Key string
	// Value is the value in force, for people: "3", "1m0s", "exponential". An
	// attempt_timeout of 0s is none.
	Value string
	// Origin is the layer that it came from.
	Origin Origin
	// Where is the variable or key that set it in that layer, or "".
	Where string
}

// Explain returns every setting of a service with its origin, in a fixed order.
// Like [Registry.Policy] it also knows those of a service that has no guard yet,
// and makes none.
func (r *Registry) Explain(name string) []Setting {
	service := name
	if _, ok := r.registered[name]; !ok {
		service = ""
	}
	l := r.book.lay(service)
	inForce := r.Policy(name)
	settings := make([]Setting, 0, len(fields))
	for i := range fields {
		f := &fields[i]
		s := Setting{Key: f.path(), Value: f.show(&inForce)}
		s.Origin, s.Where = l.origin(f)
		if f.path() == "retry.max_retry_after" && s.Origin == OriginLibrary {
			s.Where = "as retry.max_delay"
		}
		if s.Value != f.show(&l.policy) {
			s.Origin, s.Where = OriginRunTime, ""
		}
		settings = append(settings, s)
	}
	return settings
}
