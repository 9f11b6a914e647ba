package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"doze"
)

type versionCmd struct{}

// Help is shown below the flags.
func (*versionCmd) Help() string { return "Example: doze version" }

// Run prints what this binary is.
func (*versionCmd) Run(p *process) error {
	fmt.Fprintf(p.stdout, "doze %s\nanswers as Apache Kafka %s (--kafka-version: %s)\n%s %s/%s\n", buildVersion(),
		doze.DefaultKafkaVersion, strings.Join(doze.KafkaVersions, ", "), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// buildVersion is the module's version, or the commit that it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version, commit, dirty := info.Main.Version, "", false
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = true
		}
	}
	if version == "" || version == "(devel)" {
		version = "development"
	}
	return versionText(version, commit, dirty)
}

// versionText adds the commit and whether it was changed, unless the version says so itself.
func versionText(version, commit string, dirty bool) string {
	text := strings.TrimSuffix(version, "+dirty")
	if !strings.Contains(text, commit) {
		text += " " + commit
	}
	if dirty || strings.HasSuffix(version, "+dirty") {
		text += " with changes"
	}
	return text
}
