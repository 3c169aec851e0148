/**
 * Ends the process with the code, whatever hangs in it. Node's own exit waits for threads that are inside a call of an
 * engine or of the operating system, for as long as that takes: another program in the place of this one does not.
 */
export function endProcess(code: number): never {
  // What is written at the exit, such as the last lines of the log.
  process.emit("exit", code);
  process.execve?.(process.execPath, [process.execPath, "-e", `process.exit(${code})`], environment());
  process.kill(process.pid, "SIGKILL");
  process.exit(code);
}

/** Without the options of this process, which could load its program again. */
function environment(): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "" };
}
