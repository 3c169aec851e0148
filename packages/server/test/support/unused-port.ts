import type { Server } from "node:http";
import { type AddressInfo, createServer } from "node:net";

// Below those that the operating system gives to clients, which may take any of theirs at any time.
const PORTS = { least: 20_000, most: 31_999 };

/** A loopback port that nobody listens on, for a program that gets its port before it starts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.least + Math.floor(Math.random() * (PORTS.most - PORTS.least + 1));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

const used = new Set<number>();

/**
 * Listens on a loopback port that no provider of this process has used before, because discovery documents and keys are
 * cached by URL. Returns the port.
 */
export async function listenAnew(server: Server): Promise<number> {
  for (;;) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    if (!used.has(port)) {
      used.add(port);
      return port;
    }
    await new Promise((resolve) => server.close(resolve));
  }
}
