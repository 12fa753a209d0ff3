package main

import (
	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/policies"
)

// explained is what explain has to say.
type explained struct {
	Services []policies.Explanation `json:"services"`
	Chain    *policies.Chain        `json:"chain,omitempty"`
	Findings []finding              `json:"findings"`
}

func (a *app) explain() *cobra.Command {
	var from source
	var chain []string
	cmd := &cobra.Command{
		Use:   "explain [SERVICE…]",
		Short: "Say what the policies in force come to",
		Long: `Says of each service, of all that are registered if none is named: each setting
with its origin, when attempts are made, when the circuit opens, notes and
warnings. What is wrong with the configuration goes to the standard error.
` + sourceHelp,
		RunE: func(_ *cobra.Command, services []string) error {
			r, err := a.registry(&from)
			if err != nil {
				return err
			}
			if len(services) == 0 && len(chain) == 0 {
				services = r.Names()
			}
			e := explained{Services: []policies.Explanation{}, Findings: []finding{}}
			for _, name := range services {
				e.Services = append(e.Services, r.Explain(name))
			}
			if len(chain) > 0 {
				e.Chain = new(r.ExplainChain(chain...))
			}
			for _, f := range r.Findings() {
				say(a.err, "%s\n", f)
				e.Findings = append(e.Findings, describe(f))
			}
			if a.json {
				return a.write(e)
			}
			return e.print(a)
		},
		ValidArgsFunction: a.completeServices(&from),
	}
	from.flags(cmd)
	cmd.Flags().StringSliceVar(&chain, "chain", nil, "say how retries multiply through services that call each other: top,middle,bottom")
	return cmd
}

// print writes it for people, with a blank line between the parts.
func (e explained) print(a *app) error {
	for i, one := range e.Services {
		if i > 0 {
			say(a.out, "\n")
		}
		if err := one.WriteText(a.out); err != nil {
			return err
		}
	}
	if e.Chain == nil {
		return nil
	}
	if len(e.Services) > 0 {
		say(a.out, "\n")
	}
	return e.Chain.WriteText(a.out)
}
