package policies

import (
	"fmt"
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
	var conflicts []Finding
	for _, service := range append(b.services(), "") {
		conflicts = append(conflicts, b.lay(service).findings...)
	}
	b.findings = append(b.findings, merged(conflicts)...)
	return b
}

// merged makes one finding of those that differ in the service only: what is set for
// all services is one mistake, however many it meets.
func merged(all []Finding) []Finding {
	type fault struct{ key, message string }
	services := map[fault][]string{}
	for _, f := range all {
		at := fault{f.Key, f.Message}
		services[at] = append(services[at], f.Service)
	}
	var found []Finding
	for _, f := range all {
		at := fault{f.Key, f.Message}
		met := services[at]
		if met == nil {
			continue // told already
		}
		delete(services, at)
		switch named := len(met); {
		case met[len(met)-1] == "" && named == 1: // the fallback is laid last
			f.Message += " for services that nothing names"
		case met[len(met)-1] == "":
			f.Service, f.Message = "", fmt.Sprintf("%s for services that nothing names, and %d more", f.Message, named-1)
		case named > 1:
			f.Service, f.Message = "", fmt.Sprintf("%s for %d services", f.Message, named)
		}
		found = append(found, f)
	}
	return found
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

// names reports whether the service is a registered one.
func (b *book) names(service string) bool {
	_, ok := b.defaults.Services[service]
	if !ok {
		_, ok = b.overrides[service]
	}
	return ok
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
