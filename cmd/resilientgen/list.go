package main

import (
	"encoding/json"
	"io"
	"text/tabwriter"

	"github.com/seed42274fcc/stoic/gen"
)

// list prints what would be wrapped, op by op.
func list(result *gen.Result, asJSON bool, stdout, stderr io.Writer) int {
	var err error
	if asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		services := result.Services
		if services == nil {
			services = []gen.Service{} // an empty list, not null
		}
		err = encoder.Encode(services)
	} else {
		err = table(result.Services, stdout)
	}
	if err != nil {
		say(stderr, "resilientgen: %v\n", err)
		return exitRefused
	}
	return exitDone
}

func table(services []gen.Service, stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	say(w, "SERVICE\tMETHOD\tOP\tKIND\tIDEMPOTENT\tTIMEOUT\tWHY\n")
	for _, s := range services {
		for _, m := range s.Methods {
			idempotent, timeout := "no", m.Total
			switch {
			case m.Idempotent:
				idempotent = "yes"
			case m.Op == "":
				idempotent = "-"
			}
			if m.Attempt != "" {
				timeout += " (attempt " + m.Attempt + ")"
			}
			say(w, "%s\t%s.%s\t%s\t%s\t%s\t%s\t%s\n", s.Service, s.Interface, m.Name, dash(m.Op), m.Kind, idempotent, dash(timeout), m.Why)
		}
	}
	return w.Flush()
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
