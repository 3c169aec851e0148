// An import in a process of its own that stops at a step, for tests that kill it: prints the step's name on a line, and
// waits.
import { importInstallation, loadConfig } from "../../src/index.ts";

const [folder = "", stopAt = ""] = process.argv.slice(2);
await importInstallation(loadConfig(process.env), folder, {
  note: () => {},
  progress({ step, done }) {
    if (step !== stopAt || done === 0) return;
    console.log(step);
    // Blocks the process's only thread.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
  },
});
console.log("ended");
