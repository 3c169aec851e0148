// A server in a process of its own, which measures the delay of its event loop: its parent asks by messages.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { loadConfig, startServer } from "../../../src/index.ts";

const RESOLUTION_MS = 2;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const settings = loadConfig(process.env);
try {
  const server = await startServer(settings);
  process.on("SIGTERM", () => void server.close().then(() => process.exit(0)));
  process.on("disconnect", () => process.exit(1));
  process.on("message", (message: "begin" | "measured") => {
    if (message === "begin") {
      delay.enable();
      delay.reset();
    }
    // The histogram counts each delay with its own resolution.
    process.send?.(message === "begin" ? 0 : Math.max(0, delay.max / 1e6 - RESOLUTION_MS));
  });
  process.send?.(server.config.baseUrl);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
