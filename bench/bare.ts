import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { cpuUsOf, freePort, type Server, SERVER_CORE, start, stop, until } from "./processes.ts";

const START_TIMEOUT_MS = 30_000;

/** Starts one of the servers that do nothing, hello.ts or grpc-hello.ts: the limits of the runtime. */
export async function startBare(script: "hello.ts" | "grpc-hello.ts"): Promise<Server> {
  const port = await freePort();
  const child = start(SERVER_CORE, process.execPath, [fileURLToPath(new URL(script, import.meta.url)), String(port)]);
  try {
    await until(() => accepts(port), child, START_TIMEOUT_MS);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { name: script, process: child, port, cpuUs: () => cpuUsOf(child.pid) };
}

/** Whether a server listens on the port. */
export function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  return once(socket, "connect")
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
