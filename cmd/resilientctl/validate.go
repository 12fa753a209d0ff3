package main

import (
	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/policies"
)

func (a *app) validate() *cobra.Command {
	var config, lenient bool
	var names []string
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Say what is wrong with a configuration, and where",
		Long: `Says what is wrong with documents of overrides, or with --config whole
configurations: FILE:LINE:COLUMN and what a program that loads it would log. It
exits with 1 if there is anything. For - it reads the standard input.`,
		Args: orUsage(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error {
			found, err := a.findings(files, formOf(config), names)
			if err != nil {
				return err
			}
			if err := a.report(found); err != nil {
				return err
			}
			for _, f := range found {
				if f.Skipped || !lenient {
					return exit{code: exitFound}
				}
			}
			return nil
		},
	}
	formFlag(cmd.Flags(), &config)
	budgetsFlag(cmd, &names)
	cmd.Flags().BoolVar(&lenient, "lenient", false, "exit with 1 only if a setting is skipped: an unknown key, or null, is shown and passed over")
	return cmd
}

func (a *app) findings(files []string, form policies.Form, names []string) ([]finding, error) {
	all := []finding{}
	for _, file := range files {
		document, err := a.document(file)
		if err != nil {
			return nil, err
		}
		c := form.Parse(document)
		options := &policies.Options{}
		if options.Budgets, err = budgets(names, c); err != nil {
			return nil, err
		}
		found, err := policies.Validate(c, options)
		if err != nil {
			return nil, err
		}
		places := form.Places(document, found)
		for i, f := range found {
			d := describe(f)
			d.File, d.Line, d.Column = file, places[i].Line, places[i].Column
			all = append(all, d)
		}
	}
	return all, nil
}

func (a *app) report(all []finding) error {
	if a.json {
		return a.write(all)
	}
	for _, f := range all {
		text := policies.Finding{Service: f.Service, Key: f.Key, Message: f.Message}
		say(a.out, "%s:%d:%d: %s\n", shown(f.File), f.Line, f.Column, text)
	}
	return nil
}
