// Command logins logs the Go clients in over TLS, for the walk of security: logins CLIENT. See ../../security/README.md.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// patience is how long one attempt may take.
const patience = 20 * time.Second

// attempt is a login, and what is done with it: one record is sent to the topic and read again.
type attempt struct {
	bootstrap                            string
	tls                                  *tls.Config
	mechanism, user, password, topic, id string
}

var clients = map[string]func(context.Context, attempt) error{
	"franz-go": tryFranz, "sarama": trySarama, "kafka-go": tryKafkaGo,
}

var errNotRead = errors.New("the record was not read")

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(client string) error {
	try := clients[client]
	pem, err := os.ReadFile(os.Getenv("CA"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	lines := bufio.NewScanner(os.Stdin)
	for n := 0; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		a := attempt{os.Getenv("BOOTSTRAP"), &tls.Config{RootCAs: roots}, f[0], f[1], f[2], f[3], fmt.Sprint(client, "-", n)}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := try(ctx, a)
		cancel()
		if err != nil {
			fmt.Println("refused:", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Println("ok")
		}
	}
	return lines.Err()
}
