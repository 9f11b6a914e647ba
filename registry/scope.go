package registry

import (
	"slices"
	"strings"

	"doze/projections"
)

// Modes of a scope.
const (
	modeReadWrite        = "READWRITE"
	modeReadOnly         = "READONLY"
	modeReadOnlyOverride = "READONLY_OVERRIDE"
	modeImport           = "IMPORT"
	modeForward          = "FORWARD"
)

var modes = []string{modeReadWrite, modeReadOnly, modeReadOnlyOverride, modeImport, modeForward}

var levels = []string{"NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"}

const defaultLevel = "BACKWARD"

// globalScope is the last scope that is asked.
const globalScope = ":" + projections.GlobalContext + ":"

// scopes of a subject or context: itself, its context (the empty scope is that of the default context), the global one.
func scopes(scope string) []string {
	return slices.Compact([]string{scope, contextPrefix(scope), globalScope})
}

// configInScope is the first config that there is of those scopes; the default when there is none.
func (v view) configInScope(scope string) *projections.RegistryConfig {
	for _, s := range scopes(scope) {
		if c := v.Registry.Config(s); c != nil {
			return withLevel(c)
		}
	}
	return &projections.RegistryConfig{Compatibility: defaultLevel}
}

func withLevel(c *projections.RegistryConfig) *projections.RegistryConfig {
	if c.Compatibility != "" {
		return c
	}
	filled := *c
	filled.Compatibility = defaultLevel
	return &filled
}

// ownConfig is the scope's own config; the global scopes have the default when none was set.
func (v view) ownConfig(scope string) *projections.RegistryConfig {
	if c := v.Registry.Config(scope); c != nil {
		return withLevel(c)
	}
	if context, _ := projections.SplitSubject(scope); scope == "" || context == projections.GlobalContext {
		return &projections.RegistryConfig{Compatibility: defaultLevel}
	}
	return nil
}

func (v view) modeInScope(scope string) string {
	for _, s := range scopes(scope) {
		if m := v.Registry.Mode(s); m != "" {
			return m
		}
	}
	return modeReadWrite
}

// ownMode is the scope's own mode, empty for none; the global scopes have the default when none was set.
func (v view) ownMode(scope string) string {
	if m := v.Registry.Mode(scope); m != "" {
		return m
	}
	if context, _ := projections.SplitSubject(scope); scope == "" || context == projections.GlobalContext {
		return modeReadWrite
	}
	return ""
}

func imports(mode string) bool { return mode == modeImport || mode == modeForward }

func (v view) isReadOnly(scope string) bool {
	return strings.HasPrefix(v.modeInScope(scope), modeReadOnly)
}
