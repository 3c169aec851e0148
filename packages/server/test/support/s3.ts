import { randomBytes } from "node:crypto";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import type { TestContext } from "node:test";

/** Why tests on S3 are skipped, in one line; false when there is a server to test with. */
export const NO_S3 = process.env["MOORAGE_TEST_S3_URL"]
  ? false
  : "no S3 server; to run these tests, where Go is: .ci/versity.sh npm test -- s3";

/**
 * A prefix of its own on the S3 server under test, as an s3:// URL. The usual AWS variables have its keys. With `style`
 * the bucket is a part of the host name, which ends in .localhost and which the system's resolver may not resolve.
 */
export function s3Url(style: "path" | "virtual" = "path"): string {
  const url = new URL(process.env[style === "path" ? "MOORAGE_TEST_S3_URL" : "MOORAGE_TEST_S3_VIRTUAL_URL"] ?? "");
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${randomBytes(6).toString("hex")}`;
  return url.href;
}

/** A proxy to the S3 server that can be cut. `url` is the given URL through the proxy. */
export interface Way {
  url: string;
  /** Closes all connections and refuses new ones. */
  cut(): void;
  mend(): Promise<void>;
  /** From now on no bytes are forwarded back, and no connection is closed. */
  freeze(): void;
  /** Resolves once that many more bytes were sent to the server. */
  sent(bytes: number): Promise<void>;
}

export async function wayTo(t: TestContext, s3: string): Promise<Way> {
  const url = new URL(s3);
  const target = new URL(url.searchParams.get("endpoint") ?? "");
  const sockets = new Set<Socket>();
  let bytesSent = 0;
  let frozen = false;
  let watch: { at: number; resolve: () => void } | undefined;
  const connected = (socket: Socket): void => {
    const server = connect(Number(target.port), target.hostname);
    socket.on("data", (chunk) => {
      bytesSent += chunk.length;
      if (watch !== undefined && bytesSent >= watch.at) watch.resolve();
    });
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        // After a regular end the other side still has bytes to send.
        if (!one.readableEnded) other.destroy();
      });
      if (one === socket || !frozen) one.pipe(other);
    }
  };
  const listening = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer(connected)
        .once("error", reject)
        .listen(port, "127.0.0.1", () => resolve(server));
    });
  let server = await listening(0);
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.after(cut);
  url.searchParams.set("endpoint", `http://127.0.0.1:${port}`);
  return {
    url: url.href,
    cut,
    async mend() {
      server = await listening(port);
    },
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.unpipe();
    },
    sent: (bytes) =>
      new Promise((resolve) => {
        watch = { at: bytesSent + bytes, resolve };
      }),
  };
}
