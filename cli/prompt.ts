import { createInterface } from "node:readline";
import { Failure } from "./failure.js";

/** Longest password that is read from a pipe. */
const LONGEST = 4096;

/** Asks on the terminal. @throws Failure when there is no terminal */
export function ask(question: string): Promise<string> {
  assertTerminal();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve, reject) => {
    let answered = false;
    lines.on("close", () => !answered && reject(new Failure("nothing was entered")));
    lines.question(question, (answer) => {
      answered = true;
      lines.close();
      resolve(answer.trim());
    });
  });
}

/** The same for secrets: the input is not echoed. */
export async function askSecret(question: string): Promise<string> {
  assertTerminal();
  const { stdin, stderr } = process;
  stdin.setRawMode(true).setEncoding("utf8").resume();
  stderr.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      let text = "";
      stdin.on("data", (keys: string) => {
        for (const key of keys) {
          if (key === "\r" || key === "\n") return resolve(text);
          if (key === "\u0003") return reject(new Failure("nothing was entered"));
          if (key === "\u0004" && text === "") return reject(new Failure("nothing was entered"));
          if (key === "\u007f" || key === "\b") text = [...text].slice(0, -1).join("");
          else if (key === "\u0015") text = "";
          else if (key >= " ") text += key;
        }
      });
      stdin.on("end", () => reject(new Failure("nothing was entered")));
    });
  } finally {
    stdin.removeAllListeners("data").removeAllListeners("end").setRawMode(false).pause();
    stderr.write("\n");
  }
}

function assertTerminal(): void {
  if (!process.stdin.isTTY)
    throw new Failure(
      "there is no terminal for a prompt: give the user name, and the password with " +
        "--password-stdin",
    );
}

/** The first line of standard input. */
export async function readLine(): Promise<string> {
  let text = "";
  for await (const part of process.stdin.setEncoding("utf8")) {
    text += String(part);
    if (text.length > LONGEST || text.includes("\n")) break;
  }
  const [line = ""] = text.split(/\r?\n/, 1);
  if (line === "") throw new Failure("standard input holds no password");
  return line;
}
