// Engines run in threads that come and go. V8 shares the machine code of a WebAssembly module among
// the threads of a process, but only while one of them has it: this thread always does, so that
// each test does not compile it anew.
import "oxigraph";
