package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/klauspost/cpuid/v2"

	"example.org/ndd/asm"
)

// planarC is a search in C with which the searches here are compared, in the same run and on the
// same files: it must give the same answers.
//
//go:embed yardstick/planar.c
var planarC []byte

// yardstick measures the C program with the given number of tables, as a row of [search]. If the program cannot run,
// the note gives the reason.
func (b *bench) yardstick(ctx context.Context, base, queries string, tables int, want answer) (cells []any,
	note string, err error) {
	if runtime.GOOS != "linux" || !cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI2) {
		return nil, "no yardstick in C: it needs Linux, AVX2 and BMI2", nil
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return nil, "no yardstick in C: there is no gcc", nil
	}
	// Compile the program once.
	program := filepath.Join(b.dir, "planar")
	if _, err := os.Stat(program); err != nil {
		if err := os.WriteFile(program+".c", planarC, 0o644); err != nil {
			return nil, "", err
		}
		march := "-march=haswell"
		if asm.Backend() == "avx512" { // so that C uses vectors of the same length
			march = "-march=native"
		}
		if out, err := exec.CommandContext(ctx, gcc, "-O3", march, "-o", program, program+".c").CombinedOutput(); err != nil {
			return nil, "", fmt.Errorf("%s: %w\n%s", gcc, err, out)
		}
	}
	// Run it, and parse and verify its output.
	out, err := exec.CommandContext(ctx, program, base, queries, strconv.Itoa(tables)).Output()
	if err != nil {
		return nil, "", fmt.Errorf("planar: %w", err)
	}
	var size, build float64
	var ns []float64
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var took float64
		var got answer
		if _, err := fmt.Sscanf(lines.Text(), "bytes=%f build=%f", &size, &build); err == nil {
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "ns=%f results=%d checksum=%x", &took, &got.hits, &got.sum); err != nil {
			return nil, "", fmt.Errorf("planar: %q: %w", lines.Text(), err)
		}
		if got != want {
			return nil, "", fmt.Errorf("planar found %v, want %v", got, want)
		}
		ns = append(ns, took)
	}
	took := median(ns)
	return []any{size, size / b.bound(tables), float64(b.n) / build / 1e6, took, took, "-",
		took.Value / machine().independent}, "", nil
}
