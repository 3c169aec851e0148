import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

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
