"""Runs a program in a pseudo-terminal of its own and copies what it shows; what is typed comes as JSON lines
["text to wait for", "text to type"] on standard input. A signal is typed as its key: "\\u0003" is Ctrl+C."""
import json, os, pty, select, sys, time

steps = [json.loads(line) for line in sys.stdin if line.strip()]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown, sought = b"", 0
deadline = time.time() + 25
while time.time() < deadline:
    ready, _, _ = select.select([terminal], [], [], 0.1)
    if ready:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    while steps and steps[0][0].encode() in shown[sought:]:
        awaited, typed = steps.pop(0)
        sought = shown.index(awaited.encode(), sought) + len(awaited.encode())
        os.write(terminal, typed.encode())
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
