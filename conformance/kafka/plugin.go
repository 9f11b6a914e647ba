package kafka

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// TelemetryReporter is the class of our plugin with which a broker takes telemetry of clients: a value of metric.reporters.
const TelemetryReporter = "doze.conformance.Telemetry"

//go:embed plugin/Telemetry.java
var telemetryPlugin []byte

// withPlugin compiles the plugin and gives the class path with it.
func withPlugin(ctx context.Context, home, version, classPath string) (string, error) {
	dir := filepath.Join(home, "plugin-"+version)
	source := filepath.Join(dir, "Telemetry.java")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(source, telemetryPlugin, 0o644); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "javac", "-nowarn", "-d", dir, "-cp", classPath, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("javac: %w\n%s", err, out)
	}
	return classPath + string(os.PathListSeparator) + dir, nil
}
