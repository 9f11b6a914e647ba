package walk

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

var answers = bufio.NewReader(os.Stdin)

// pass prints a claim that held.
func pass(format string, args ...any) { fmt.Printf("PASS "+format+"\n", args...) }

// signal asks the runner for something done to the broker and waits until it is done.
func signal(what string) error {
	fmt.Println("@" + what)
	if _, err := answers.ReadString('\n'); err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}

// until polls a condition until it holds or the deadline passes; state says what is seen, for the error.
func until(what string, limit time.Duration, state func() (bool, string)) error {
	deadline := time.Now().Add(limit)
	for {
		ok, seen := state()
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %s: %s", what, limit, seen)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
