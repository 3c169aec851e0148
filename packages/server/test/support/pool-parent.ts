// A process that runs a task which never ends, for a test that kills this process: `pool-parent.ts <file>`. The task
// writes the id of its process to the file.
import { processPool } from "../../../kernel/src/lib/process-pool/index.ts";

const pool = processPool({
  module: new URL("./pool-tasks.ts", import.meta.url),
  size: 1,
  maxHeapMiB: 64,
  idleMs: 0,
  maxWaiting: 0,
});
await pool.run("hang", { began: process.argv[2] }, { timeoutMs: 600_000 });
