import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** A TCP proxy on loopback that forwards connections to the targets in turn, and can fail as networks do. */
export interface Proxy {
  port: number;
  /** The targets' ports on loopback, for new connections. */
  targets: number[];
  /** Closes all connections. */
  cut(): void;
  /** While true, received bytes are dropped, on old and new connections. */
  swallow: boolean;
  close(): Promise<void>;
}

export async function startProxy(targets: number[]): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let next = 0;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket
      .setNoDelay(true)
      .on("error", () => {})
      .once("close", () => sockets.delete(socket));
  };
  const pass = (from: Socket, to: Socket): void => {
    from.on("data", (chunk) => {
      if (proxy.swallow) return;
      if (!to.write(chunk)) from.pause();
    });
    to.on("drain", () => from.resume());
    from.once("end", () => to.end());
    from.once("close", () => to.destroy());
  };
  /** Connects to each target once, beginning with the next in turn. */
  const join = (client: Socket, left: number): void => {
    const target = proxy.targets[next++ % proxy.targets.length];
    if (target === undefined || left === 0) return void client.destroy();
    const server = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true });
    const refused = (): void => join(client, left - 1);
    server.once("error", refused);
    server.once("connect", () => {
      server.off("error", refused);
      if (client.destroyed) return void server.destroy();
      keep(server);
      pass(client, server);
      pass(server, client);
      client.resume();
    });
  };
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    keep(client);
    join(client, proxy.targets.length);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const proxy: Proxy = {
    port: (listener.address() as AddressInfo).port,
    targets,
    swallow: false,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve));
      proxy.cut();
      await closed;
    },
  };
  return proxy;
}
