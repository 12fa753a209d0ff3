package sanitize

// tokenRule is a kind of token that is known by how it begins.
type tokenRule struct {
	prefix string
	least  int    // how long the rest is at least
	set    string // what else the rest may hold besides letters and digits
	mixed  bool   // the rest must hold a digit, or letters small and capital: other words begin so too
	part   int    // of the rest between dashes, one that is mixed has so many bytes
	keep   bool   // the prefix stays, since it is the address of a service
	fold   bool   // in small letters and capitals
}

// tokenRules are the prefixes that services give their secrets so that they can be
// found. What identifies and does not authorize is not among them.
var tokenRules = [...]tokenRule{
	// forges
	{prefix: "ghp_", least: 30}, {prefix: "gho_", least: 30}, {prefix: "ghu_", least: 30},
	{prefix: "ghs_", least: 30, set: "_.-"}, {prefix: "ghr_", least: 30},
	{prefix: "github_pat_", least: 22, set: "_"},
	{prefix: "glpat-", least: 16, set: "-_."}, {prefix: "gldt-", least: 16, set: "-_"}, {prefix: "glrt-", least: 16, set: "-_."},
	{prefix: "glptt-", least: 16, set: "-_"}, {prefix: "glcbt-", least: 16, set: "-_"}, {prefix: "glft-", least: 16, set: "-_"},
	{prefix: "glsoat-", least: 16, set: "-_"}, {prefix: "glagent-", least: 16, set: "-_"}, {prefix: "glimt-", least: 16, set: "-_"},
	{prefix: "gloas-", least: 16, set: "-_"},
	{prefix: "ATBB", least: 28}, {prefix: "ATATT3", least: 40, set: "-_="}, {prefix: "ATCTT3", least: 40, set: "-_="},
	// registries
	{prefix: "npm_", least: 30}, {prefix: "pypi-", least: 24, set: "-_", mixed: true}, {prefix: "rubygems_", least: 32},
	{prefix: "dckr_pat_", least: 20, set: "-_"}, {prefix: "dckr_oat_", least: 20, set: "-_"}, {prefix: "crates_", least: 32},
	// clouds and platforms
	{prefix: "AIza", least: 30, set: "-_"}, {prefix: "ya29.", least: 16, set: "-_."}, {prefix: "GOCSPX-", least: 20, set: "-_"},
	{prefix: "dop_v1_", least: 32}, {prefix: "doo_v1_", least: 32}, {prefix: "dor_v1_", least: 32},
	{prefix: "hvs.", least: 20, set: "-_"}, {prefix: "hvb.", least: 20, set: "-_"}, {prefix: "hvr.", least: 20, set: "-_"},
	{prefix: "tskey-", least: 16, set: "-"}, {prefix: "pul-", least: 36, mixed: true}, {prefix: "pscale_tkn_", least: 20, set: "-_."},
	{prefix: "pscale_pw_", least: 20, set: "-_."}, {prefix: "sbp_", least: 32}, {prefix: "sb_secret_", least: 16, set: "-_"},
	{prefix: "HRKU-", least: 20, set: "-_"}, {prefix: "FlyV1 fm2_", least: 20, set: "+/="}, {prefix: "fm2_", least: 40, set: "+/=", mixed: true},
	{prefix: "rnd_", least: 24, mixed: true}, {prefix: "nfp_", least: 30}, {prefix: "vercel_", least: 24, mixed: true},
	{prefix: "dp.pt.", least: 30}, {prefix: "dp.st.", least: 30, set: "._-"}, {prefix: "dp.ct.", least: 30}, {prefix: "dp.sa.", least: 30},
	{prefix: "ops_eyJ", least: 40, set: "-_="}, {prefix: "atlasv1.", least: 50, set: "-_"},
	// chat and mail
	{prefix: "xoxb-", least: 16, set: "-"}, {prefix: "xoxp-", least: 16, set: "-"}, {prefix: "xoxa-", least: 16, set: "-"},
	{prefix: "xoxr-", least: 16, set: "-"}, {prefix: "xoxs-", least: 16, set: "-"}, {prefix: "xoxo-", least: 16, set: "-"},
	{prefix: "xoxc-", least: 16, set: "-"}, {prefix: "xoxd-", least: 16, set: "-%/+="}, {prefix: "xoxe-", least: 16, set: "-"},
	{prefix: "xoxe.xoxp-", least: 16, set: "-"}, {prefix: "xapp-", least: 16, set: "-"},
	{prefix: "SG.", least: 40, set: "-_."}, {prefix: "key-", least: 32, mixed: true}, {prefix: "xkeysib-", least: 40, set: "-"},
	{prefix: "pat-na1-", least: 36, set: "-", mixed: true}, {prefix: "pat-eu1-", least: 36, set: "-", mixed: true},
	{prefix: "xsmtpsib-", least: 40, set: "-"}, {prefix: "re_", least: 24, set: "_", mixed: true},
	{prefix: "hooks.slack.com/services/", least: 10, set: "/", keep: true},
	{prefix: "hooks.slack.com/workflows/", least: 10, set: "/", keep: true},
	{prefix: "hooks.slack.com/triggers/", least: 10, set: "/", keep: true},
	{prefix: "discord.com/api/webhooks/", least: 20, set: "/-_", keep: true},
	{prefix: "discord.com/api/v8/webhooks/", least: 20, set: "/-_", keep: true},
	{prefix: "discord.com/api/v9/webhooks/", least: 20, set: "/-_", keep: true},
	{prefix: "discord.com/api/v10/webhooks/", least: 20, set: "/-_", keep: true},
	{prefix: "discordapp.com/api/webhooks/", least: 20, set: "/-_", keep: true},
	{prefix: "api.telegram.org/bot", least: 20, set: ":-_", keep: true},
	{prefix: "webhook.office.com/webhookb2/", least: 20, set: "/-_@", keep: true},
	{prefix: "hooks.zapier.com/hooks/catch/", least: 8, set: "/", keep: true},
	// payment and shops
	{prefix: "sk_live_", least: 10}, {prefix: "sk_test_", least: 10}, {prefix: "rk_live_", least: 10}, {prefix: "rk_test_", least: 10},
	{prefix: "whsec_", least: 16, set: "+/="}, {prefix: "shpat_", least: 20}, {prefix: "shpca_", least: 20}, {prefix: "shppa_", least: 20},
	{prefix: "shpss_", least: 20}, {prefix: "shptka_", least: 20}, {prefix: "sq0atp-", least: 20, set: "-_"}, {prefix: "sq0csp-", least: 20, set: "-_"},
	{prefix: "access_token$production$", least: 16, set: "$"}, {prefix: "FLWSECK-", least: 12, set: "-"}, {prefix: "FLWSECK_TEST-", least: 12, set: "-"},
	{prefix: "shippo_live_", least: 30}, {prefix: "shippo_test_", least: 30}, {prefix: "rzp_live_", least: 12},
	// model providers
	{prefix: "sk-", least: 20, set: "-_", mixed: true, part: 12}, {prefix: "gsk_", least: 20, mixed: true}, {prefix: "hf_", least: 24, mixed: true},
	{prefix: "r8_", least: 24, mixed: true}, {prefix: "pplx-", least: 24, mixed: true}, {prefix: "xai-", least: 24, mixed: true},
	{prefix: "lsv2_pt_", least: 20, set: "_"}, {prefix: "lsv2_sk_", least: 20, set: "_"}, {prefix: "tgp_v1_", least: 20, set: "-_"},
	{prefix: "nvapi-", least: 24, set: "-_"}, {prefix: "fw_", least: 22, mixed: true}, {prefix: "ABSK", least: 40, set: "+/=", mixed: true},
	{prefix: "csk-", least: 24, mixed: true}, {prefix: "pcsk_", least: 24, set: "_"}, {prefix: "jina_", least: 30, set: "-_", mixed: true},
	{prefix: "tvly-", least: 16, set: "-", mixed: true}, {prefix: "e2b_", least: 20, mixed: true}, {prefix: "phx_", least: 20, mixed: true},
	// tools
	{prefix: "lin_api_", least: 20}, {prefix: "lin_oauth_", least: 20}, {prefix: "PMAK-", least: 20, set: "-"}, {prefix: "figd_", least: 20, set: "-_"},
	{prefix: "ntn_", least: 30}, {prefix: "secret_", least: 40, mixed: true}, {prefix: "NRAK-", least: 20}, {prefix: "NRII-", least: 20, set: "-_"},
	{prefix: "NRJS-", least: 16}, {prefix: "glsa_", least: 30, set: "_"}, {prefix: "glc_", least: 30, set: "+/=", mixed: true},
	{prefix: "sntrys_", least: 30, set: "_+/=-"}, {prefix: "sntryu_", least: 30}, {prefix: "dt0c01.", least: 40, set: "."},
	{prefix: "dt0s16.", least: 30, set: "."}, {prefix: "CFPAT-", least: 30, set: "-_"}, {prefix: "sgp_", least: 32, set: "_"},
	{prefix: "doc-", least: 60, mixed: true}, {prefix: "tfp_", least: 40, set: "-_=."}, {prefix: "rdme_", least: 40}, {prefix: "aio_", least: 24, mixed: true},
	{prefix: "duffel_live_", least: 30, set: "-_="}, {prefix: "duffel_test_", least: 30, set: "-_="}, {prefix: "ico-", least: 32},
	{prefix: "pnu_", least: 30}, {prefix: "phc_", least: 40, mixed: true}, {prefix: "AGE-SECRET-KEY-1", least: 40, fold: true},
	{prefix: "AKCp", least: 60},
}

// keyIDs are the first letters of the keys of a cloud, of which sixteen capitals
// and digits follow.
var keyIDs = [...]string{"AKIA", "ASIA", "AROA", "AIDA", "ABIA", "ACCA", "AGPA", "AIPA", "ANPA", "ANVA", "APKA"}
