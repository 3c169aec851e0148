// A server in processes of its own, for tests that kill it: writes the log's lines to standard output, and one line
// with its URL and its port when it listens.
import { loadConfig, startServer, startWorkers } from "../../src/index.ts";

const settings = loadConfig(process.env);
try {
  const server = settings.workers > 1 ? await startWorkers(settings) : await startServer(settings);
  process.on("SIGTERM", () => void server.close().then(() => process.exit(0)));
  console.log(server.config.baseUrl, server.config.port);
  if ("failed" in server) await server.failed;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
