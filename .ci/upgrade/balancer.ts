import { connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { isReady } from "./program.ts";

/** A balancer: connections go in turn to the servers whose `/readyz` answers 200, and end when it no longer does. */
export interface Balancer {
  url: string;
  /** The ports of the servers to ask. */
  servers: Set<number>;
  close(): void;
}

const EVERY_MS = 200;

export async function startBalancer(port: number): Promise<Balancer> {
  const servers = new Set<number>();
  const open = new Map<Socket, number>();
  let ready: number[] = [];
  let turn = 0;
  const server = createServer((client) => {
    const target = ready[turn++ % Math.max(1, ready.length)];
    client.on("error", () => client.destroy());
    if (target === undefined) return void client.destroy();
    const upstream = connect(target, "127.0.0.1");
    open.set(client, target);
    client.once("close", () => {
      open.delete(client);
      upstream.destroy();
    });
    upstream.on("error", () => client.destroy()).once("close", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  let isClosed = false;
  const watching = (async () => {
    while (!isClosed) {
      const asked = [...servers];
      const answers = await Promise.all(asked.map(isReady));
      ready = asked.filter((_, at) => answers[at]);
      for (const [client, target] of open) if (!ready.includes(target)) client.destroy();
      await wait(EVERY_MS);
    }
  })();
  return {
    url: `http://127.0.0.1:${port}`,
    servers,
    close() {
      isClosed = true;
      server.close();
      for (const client of open.keys()) client.destroy();
      void watching;
    },
  };
}
