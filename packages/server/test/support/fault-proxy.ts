import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { type Direction, openDirection } from "./fault-proxy-direction.ts";

/**
 * A TCP proxy on loopback that forwards connections to the targets in turn, and fails as networks do. Everything is
 * switched while connections are open. It knows nothing of what it forwards: PostgreSQL, S3 and webhooks alike.
 */
export interface FaultProxy {
  port: number;
  /** The targets' ports on loopback, for new connections; with none, new connections are closed. */
  targets: number[];
  /** What happens to new connections: they are forwarded, reset, or accepted and never answered. */
  accepts: "forward" | "reset" | "silence";
  /** What happens to bytes on their way, on old and new connections. */
  readonly toServer: Direction;
  readonly toClient: Direction;
  /** The number of connections that are open now. */
  readonly connections: number;
  /** Whether bytes are dropped in both directions, as on a network that is partitioned: nobody notices. */
  drop(isDropped: boolean): void;
  /** Closes all connections. */
  cut(): void;
  /** Resets all connections: both ends get ECONNRESET. */
  reset(): void;
  /** Closes all connections and refuses new ones, until `listen`. */
  refuse(): Promise<void>;
  listen(): Promise<void>;
  close(): Promise<void>;
}

export async function startFaultProxy(targets: number[]): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const [toServer, toClient] = [openDirection(), openDirection()];
  let next = 0;
  let listener: Server | undefined;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket
      .setNoDelay(true)
      .on("error", () => {})
      .once("close", () => sockets.delete(socket));
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
      toServer.forward(client, server);
      toClient.forward(server, client);
    });
  };
  const accept = (client: Socket): void => {
    keep(client);
    if (proxy.accepts === "reset") client.resetAndDestroy();
    else if (proxy.accepts === "forward") join(client, proxy.targets.length);
    // It is read, so that its end is noticed.
    else client.resume().once("end", () => client.destroy());
  };
  const listening = async (port: number): Promise<number> => {
    const opened = createServer({ allowHalfOpen: true, pauseOnConnect: true }, accept);
    await new Promise<void>((resolve, reject) => {
      opened.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
    listener = opened;
    return (opened.address() as AddressInfo).port;
  };
  const port = await listening(0);
  const proxy: FaultProxy = {
    port,
    targets,
    accepts: "forward",
    toServer,
    toClient,
    get connections() {
      return sockets.size;
    },
    drop(isDropped) {
      toServer.drops = toClient.drops = isDropped;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async refuse() {
      const closed = new Promise<unknown>((resolve) =>
        listener === undefined ? resolve(undefined) : listener.close(resolve),
      );
      proxy.cut();
      await closed;
    },
    async listen() {
      await listening(port);
    },
    close: () => proxy.refuse(),
  };
  return proxy;
}
