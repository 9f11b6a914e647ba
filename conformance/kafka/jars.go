package kafka

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Reference is the release that doze is held against.
const Reference = "4.3.1"

//go:embed pom.xml
var pom []byte

// Home is the directory of jars and data.
func Home() (string, error) {
	if dir := os.Getenv("DOZE_KAFKA_HOME"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w (DOZE_KAFKA_HOME names another place)", err)
	}
	return filepath.Join(cache, "doze", "kafka"), nil
}

// ClassPath gives the class path of a release; its jars are fetched the first time.
func ClassPath(ctx context.Context, version string) (string, error) {
	home, err := Home()
	if err != nil {
		return "", err
	}
	libs := filepath.Join(home, "libs-"+version)
	done := filepath.Join(libs, ".done")
	if _, err := os.Stat(done); err == nil {
		return filepath.Join(libs, "*"), nil
	}
	if err := fetchJars(ctx, home, libs, version); err != nil {
		return "", fmt.Errorf("fetch the jars of Kafka %s: %w", version, err)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		return "", fmt.Errorf("mark the jars of Kafka %s as complete: %w", version, err)
	}
	return filepath.Join(libs, "*"), nil
}

func fetchJars(ctx context.Context, home, libs, version string) error {
	build := filepath.Join(home, "build-"+version)
	if err := os.MkdirAll(build, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(build, "pom.xml"), pom, 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-Dkafka.version="+version,
		"dependency:copy-dependencies", "-DoutputDirectory="+libs)
	cmd.Dir = build
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, out)
	}
	return nil
}
