//go:build linux

package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// mask is a CPU set as the kernel takes it: 1,024 CPUs.
type mask [16]uint64

// pinnedEnv marks a process that already runs pinned; its value is the broker's CPU.
const pinnedEnv = "DOZEBENCH_BROKER_CPU"

// CPUs returns the CPUs that the calling thread may use, in order.
func CPUs() ([]int, error) {
	var m mask
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(m), uintptr(unsafe.Pointer(&m)))
	if errno != 0 {
		return nil, fmt.Errorf("read cpu affinity: %w", errno)
	}
	var cpus []int
	for cpu := range len(m) * 64 {
		if m[cpu/64]&(1<<(cpu%64)) != 0 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// pinThread lets the calling thread, and what it starts, run on one CPU only.
func pinThread(cpu int) error {
	var m mask
	m[cpu/64] = 1 << (cpu % 64)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(m), uintptr(unsafe.Pointer(&m)))
	if errno != 0 {
		return fmt.Errorf("pin thread to cpu %d: %w", cpu, errno)
	}
	return nil
}

// PinSelf replaces the process by itself, pinned to the CPU client, and returns only in the pinned one, with the CPU kept
// for the broker. A fresh image is the only way to have every thread of a Go process on one CPU from its first moment.
// A negative number chooses: the first CPU for the broker, the last for the client.
func PinSelf(broker, client int) (brokerCPU int, err error) {
	if v := os.Getenv(pinnedEnv); v != "" {
		return strconv.Atoi(v)
	}
	cpus, err := CPUs()
	if err != nil {
		return 0, err
	}
	if broker < 0 {
		broker = cpus[0]
	}
	if client < 0 {
		client = cpus[len(cpus)-1]
	}
	runtime.LockOSThread()
	if err := pinThread(client); err != nil {
		return 0, err
	}
	env := append(os.Environ(), pinnedEnv+"="+strconv.Itoa(broker))
	return 0, fmt.Errorf("run the bench again, pinned: %w", syscall.Exec("/proc/self/exe", os.Args, env))
}

// OnCPU runs start on a thread pinned to cpu, so that a process it starts inherits the pin; the thread goes back to its own CPU after..
func OnCPU(cpu int, start func() error) error {
	cpus, err := CPUs()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := pinThread(cpu); err != nil {
		return err
	}
	err = start()
	if back := pinThread(cpus[0]); err == nil {
		err = back
	}
	return err
}
