// Runs the templates of an injector's configuration for Fairlead, which starts and watches it.
//
// Standard input and output carry frames: four bytes of length, the most significant first, then as many of JSON. Each
// request gets one answer, in order. The end of the input ends the program, also in the middle of a template. Limits of
// time are the caller's: it kills a program that takes too long.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"fairlead.dev/templates/inject"
)

// The most bytes of one frame in either direction.
const mostFrame = 64 << 20

func main() {
	memory := flag.Uint64("memory", 512<<20, "most bytes of memory; beyond it the program ends")
	output := flag.Int("output", 4<<20, "most bytes of one template's output")
	flag.Parse()
	limitMemory(*memory)
	runtime.GOMAXPROCS(2)
	requests := make(chan []byte)
	go readFrames(bufio.NewReaderSize(os.Stdin, 64<<10), requests)
	server := inject.NewServer(*output)
	for request := range requests {
		if err := writeFrame(os.Stdout, server.Answer(request)); err != nil {
			os.Exit(1)
		}
	}
}

// The collector works hard before the end; the operating system's limit is the end. It counts what is reserved for
// stacks and for the collector's own tables too, hence the margin.
func limitMemory(bytes uint64) {
	debug.SetMemoryLimit(int64(bytes / 4 * 3))
	debug.SetGCPercent(400) // a run leaves little behind
	debug.SetMaxStack(64 << 20)
	limit := syscall.Rlimit{Cur: bytes + 64<<20, Max: bytes + 64<<20}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		fmt.Fprintln(os.Stderr, "the limit of memory cannot be set:", err)
		os.Exit(1)
	}
}

func readFrames(in io.Reader, requests chan<- []byte) {
	for {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			os.Exit(0)
		}
		size := binary.BigEndian.Uint32(head[:])
		if size > mostFrame {
			os.Exit(1)
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(in, frame); err != nil {
			os.Exit(0)
		}
		requests <- frame
	}
}

func writeFrame(out io.Writer, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil || len(text) > mostFrame {
		text, _ = json.Marshal(map[string]string{"broken": "the answer cannot be sent"})
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, len(text)+4), uint32(len(text)))
	_, err = out.Write(append(frame, text...))
	return err
}
