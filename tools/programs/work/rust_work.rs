// Rust threads that call C with OpenMP, whose teams call Rust again; each member has its thread_local! values.
use std::cell::Cell;
use std::os::raw::{c_double, c_int, c_long, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Instant;

extern "C" {
    fn kernel_dot(n: c_int, passes: c_int) -> c_double;
    fn kernel_tree(n: c_int) -> c_long;
    fn kernel_each(n: c_int, call: extern "C" fn(*mut c_void, c_int) -> c_long, context: *mut c_void) -> c_long;
}

thread_local!(static MINE: Cell<usize> = Cell::new(0));
static CALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn call_rust(context: *mut c_void, i: c_int) -> c_long {
    let words = unsafe { &*(context as *const Mutex<Vec<String>>) };
    MINE.with(|mine| mine.set(mine.get() + 1));
    CALLS.fetch_add(1, Ordering::Relaxed);
    let text = format!("{:b}", i);
    let ones = text.bytes().filter(|&b| b == b'1').count();
    if i % 64 == 0 {
        words.lock().unwrap().push(text);
    }
    ones as c_long
}

fn each(n: c_int) -> c_long {
    let words = Mutex::new(Vec::<String>::new());
    let sum = unsafe { kernel_each(n, call_rust, &words as *const _ as *mut c_void) };
    let length: usize = words.lock().unwrap().iter().map(|w| w.len()).sum();
    sum * 1000 + length as c_long
}

fn main() {
    let start = Instant::now();
    println!("result dot {}", unsafe { kernel_dot(1 << 20, 40) });
    println!("result tree {}", unsafe { kernel_tree(30) });
    println!("result each {}", each(40000));
    let threads: Vec<_> = (0..4)
        .map(|t| std::thread::spawn(move || {
            (unsafe { kernel_dot(1 << 18, 20 + t) }, unsafe { kernel_tree(20 + t) }, each(900 + t))
        }))
        .collect();
    for thread in threads {
        println!("result thread {:?}", thread.join().unwrap());
    }
    println!("result calls {}", CALLS.load(Ordering::Relaxed));
    println!("time {}", start.elapsed().as_secs_f64());
}
