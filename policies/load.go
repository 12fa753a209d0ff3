package policies

import (
	"maps"
	"slices"
)

// FromEnv makes a registry from the environment variables that begin with prefix
// and "_". Bad values are logged, kept as findings and passed over; the error is
// for a prefix that is not [A-Z][A-Z0-9_]* and for options that are not valid.
func FromEnv(prefix string, options *Options) (*Registry, error) {
	c, err := ParseEnv(prefix, options)
	if err != nil {
		return nil, err
	}
	return Load(c, options)
}

// Load makes a registry from a Config, which it copies:
//
//	reg, err := policies.Load(policies.ParseJSON(data), nil)
//
// Bad values are logged, kept as findings and passed over; the error is for options
// that are not valid.
func Load(c Config, options *Options) (*Registry, error) {
	own, err := options.filled()
	if err != nil {
		return nil, err
	}
	return newRegistry(newBook(c, *own.Defaults), own)
}

// Validate returns the findings that [Load] would have, and makes and logs
// nothing. It is for a CI job:
//
//	findings, err := policies.Validate(policies.ParseJSON(data), nil)
//
// The error is for options that are not valid.
func Validate(c Config, options *Options) ([]Finding, error) {
	own, err := options.filled()
	if err != nil {
		return nil, err
	}
	return newBook(c, *own.Defaults).findings, nil
}

// book holds the layers of every service. It is made once, shares nothing, and is
// only read afterwards.
type book struct {
	defaults  Defaults
	all       layer
	overrides map[string]Patch
	findings  []Finding
}

func newBook(c Config, defaults Defaults) *book {
	patch, overrides, found := c.checked()
	b := &book{
		defaults:  defaults,
		all:       layer{origin: OriginAll, patch: patch, where: c.where},
		overrides: overrides,
		findings:  slices.Concat(c.findings, found),
	}
	for _, service := range b.services() {
		b.findings = append(b.findings, b.lay(service).findings...)
	}
	b.findings = append(b.findings, b.lay("").findings...)
	return b
}

// services lists the registered ones in order.
func (b *book) services() []string {
	all := map[string]bool{}
	for name := range b.defaults.Services {
		all[name] = true
	}
	for name := range b.overrides {
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// lay lays the layers of a service; "" is any that is not registered.
func (b *book) lay(service string) laid {
	path := (*field).path
	beneath, own := b.defaults.patch(service)
	origin := OriginFallback
	if own {
		origin = OriginService
	}
	layers := []layer{{origin, beneath, path}, b.all}
	if over, ok := b.overrides[service]; ok {
		layers = append(layers, layer{OriginOverride, over, path})
	}
	return lay(service, layers)
}
