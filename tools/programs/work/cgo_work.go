// Goroutines that call C with OpenMP, whose teams call Go again.
package main

/*
#include "kernel.h"
extern long callGo(void *, int);
static long eachInGo(int n) { return kernel_each(n, callGo, 0); }
*/
import "C"

import (
	"fmt"
	"sync"
	"time"
	"unsafe"
)

var (
	lock sync.Mutex
	seen = map[int]int{}
)

//export callGo
func callGo(_ unsafe.Pointer, i C.int) C.long {
	garbage := make([]int, 100)
	garbage[int(i)%100] = int(i)
	lock.Lock()
	seen[int(i)]++
	lock.Unlock()
	return C.long(len(fmt.Sprint(garbage)))
}

func main() {
	start := time.Now()
	fmt.Println("result dot", float64(C.kernel_dot(1<<20, 40)))
	fmt.Println("result tree", int(C.kernel_tree(30)))
	fmt.Println("result each", int(C.eachInGo(4000)))
	var all sync.WaitGroup
	var dots [8]float64
	var others [8]int
	for g := range dots {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			dots[g] = float64(C.kernel_dot(C.int(1<<16), C.int(20+g)))
			others[g] = int(C.kernel_tree(C.int(18+g))) + int(C.eachInGo(C.int(300+g)))
		}(g)
	}
	all.Wait()
	for g := range dots {
		fmt.Println("result goroutine", g, dots[g], others[g])
	}
	calls := 0
	for _, n := range seen {
		calls += n
	}
	fmt.Println("result calls", calls)
	fmt.Println("time", time.Since(start).Seconds())
}
