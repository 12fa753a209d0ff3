package policies

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// ParseEnv reads a Config from the environment variables of the package comment,
// through Options.LookupEnv. It accepts any values: what cannot be used is left
// out, and reported by [Load] and [Validate]. The error is for a prefix that is not
// [A-Z][A-Z0-9_]*, or ends with _.
func ParseEnv(prefix string, options *Options) (Config, error) {
	if !validPrefix(prefix) {
		return Config{}, fmt.Errorf("policies: a prefix of environment variables is upper-case letters, digits and _, begins with a letter and does not end with _, such as \"CLEVERAGENTS\"")
	}
	lookup, environ := os.LookupEnv, os.Environ
	if options != nil && options.LookupEnv != nil {
		lookup, environ = options.LookupEnv, options.Environ
	}
	c := Config{prefix: prefix}
	var patch Patch
	for i := range fields {
		f := &fields[i]
		if f.variable == "" {
			continue
		}
		if value, ok := c.variable(f.variable, lookup); ok {
			if bad := f.read(text(value), &patch); bad != nil {
				c.warn(c.where(f), bad.kind, bad.text+"; it is skipped")
			}
		}
	}
	c.setPatch(patch)
	if doc, ok := c.variable(variableOverrides, lookup); ok {
		overrides, found := parseOverrides(doc, prefix+"_"+variableOverrides)
		c.RetryServiceOverrides = overrides
		c.findings = append(c.findings, found...)
	}
	c.warnOfStrays(lookup)
	if environ != nil {
		c.warnOfSlips(environ())
	}
	return c, nil
}

func validPrefix(prefix string) bool {
	return prefix != "" && prefix[0] >= 'A' && prefix[0] <= 'Z' && !strings.HasSuffix(prefix, "_") &&
		strings.Trim(prefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// variable reads a variable that has a value. One that is set to nothing, as many
// tools do with what they have no value for, is the same as one that is not set.
func (c *Config) variable(name string, lookup func(string) (string, bool)) (string, bool) {
	value, isSet := lookup(c.prefix + "_" + name)
	if !isSet {
		return "", false
	}
	value = strings.TrimSpace(value)
	if value == "" {
		c.warn(c.prefix+"_"+name, KindEmpty, "is empty, which is the same as not set")
		return "", false
	}
	return value, true
}

// warnOfStrays looks for variables that somebody may well have set and nothing
// reads.
func (c *Config) warnOfStrays(lookup func(string) (string, bool)) {
	strays := strayVariables()
	for _, name := range slices.Sorted(maps.Keys(strays)) {
		if _, isSet := lookup(c.prefix + "_" + name); !isSet {
			continue
		}
		advice := fmt.Sprintf("set it for single services, in %s_%s", c.prefix, variableOverrides)
		if variable := strays[name]; variable != "" {
			advice = fmt.Sprintf("did you mean %q?", c.prefix+"_"+variable)
		}
		c.warn(c.prefix+"_"+name, KindUnknownKey, "no such variable is read ("+advice+"); it is ignored")
	}
}

// warnOfSlips looks among all variables for those that look like ours and are not.
// What has the prefix and nothing more of ours is none of our business.
func (c *Config) warnOfSlips(environ []string) {
	known, strays := knownVariables(), strayVariables()
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, _, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(name, c.prefix+"_")
		_, stray := strays[name] // reported already
		if !ours || stray || slices.Contains(known, name) {
			continue
		}
		for _, section := range []string{"RETRY_", "CB_"} {
			if slip, ok := strings.CutPrefix(name, section); ok {
				guess := ""
				if meant := nearest(slip, trimmed(known, section)); meant != "" {
					guess = c.prefix + "_" + section + meant
				}
				c.warn(c.prefix+"_"+name, KindUnknownKey, "no such variable is read"+didYouMean(guess)+"; it is ignored")
			}
		}
	}
}

// variableStore says where circuits are shared. Package redisstore reads it, and makes
// the store that the application hands over.
const variableStore = "CB_STORE"

// knownVariables lists the variables that are read, without prefix, here and there.
func knownVariables() []string {
	known := []string{variableOverrides, variableStore}
	for i := range fields {
		if v := fields[i].variable; v != "" {
			known = append(known, v)
		}
	}
	return known
}

// trimmed returns those of the names that begin with prefix, without it.
func trimmed(names []string, prefix string) []string {
	var rest []string
	for _, name := range names {
		if after, ok := strings.CutPrefix(name, prefix); ok {
			rest = append(rest, after)
		}
	}
	return rest
}

// strayVariables maps names without prefix to the variable that is meant, or to ""
// for a setting that is none.
func strayVariables() map[string]string {
	short := map[string]string{sectionRetry: "RETRY_", sectionCircuit: "CB_"}
	strays := map[string]string{"RETRY_OVERRIDES": variableOverrides, "SERVICE_OVERRIDES": variableOverrides}
	for i := range fields {
		f := &fields[i]
		if f.section == "" {
			continue // P_TOTAL_TIMEOUT may be a variable of the application itself
		}
		names := append([]string{f.key}, f.aliases...)
		for word, key := range otherWords {
			if key == f.key {
				names = append(names, word)
			}
		}
		for _, name := range names {
			for _, prefix := range []string{short[f.section], strings.ToUpper(f.section) + "_"} {
				strays[prefix+strings.ToUpper(name)] = f.variable
			}
		}
	}
	for i := range fields {
		delete(strays, fields[i].variable)
	}
	return strays
}
