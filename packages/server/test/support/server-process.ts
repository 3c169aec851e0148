// A server in processes of its own, for tests that kill it: writes the log's lines to standard output, and one line
// with its URL and its port when it listens.
import type { Worker } from "node:worker_threads";
import { loadConfig, startServer, startWorkers } from "../../src/index.ts";

const settings = loadConfig(process.env);
// SIGUSR2 kills the threads of this process, as a defect in one of them would.
const threads = new Set<Worker>();
process.on("worker", (thread: Worker) => {
  threads.add(thread);
  thread.once("exit", () => threads.delete(thread));
});
process.on("SIGUSR2", () => {
  for (const thread of threads) void thread.terminate();
});
try {
  const server = settings.workers > 1 ? await startWorkers(settings) : await startServer(settings);
  process.on("SIGTERM", () => void server.close().then(() => process.exit(0)));
  console.log(server.config.baseUrl, server.config.port);
  if ("failed" in server) await server.failed;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
