import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A proxy on loopback that forwards to a real registry, or answers as the test says. */
export interface Front {
  url: string;
  /** `host:port` */
  host: string;
  /** All requests received. */
  seen: { method: string; path: string; authorization: string | undefined }[];
  /** Called with each request first. Returns true when it has answered it. */
  intercept: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** Called with each answer of the registry. Returns true when it has answered in its place. */
  replace: (req: IncomingMessage, answer: IncomingMessage, res: ServerResponse) => boolean;
}

export async function startFront(t: TestContext, target: string): Promise<Front> {
  const { hostname, port } = new URL(target);
  const server = createServer((req, res) => {
    front.seen.push({ method: req.method ?? "", path: req.url ?? "", authorization: req.headers.authorization });
    if (front.intercept(req, res)) return;
    const outgoing = request({ hostname, port, method: req.method, path: req.url, headers: req.headers }, (answer) => {
      if (front.replace(req, answer, res)) return;
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(res);
    });
    outgoing.on("error", () => res.destroy());
    req.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const front: Front = { url: `http://${host}`, host, seen: [], intercept: () => false, replace: () => false };
  return front;
}
