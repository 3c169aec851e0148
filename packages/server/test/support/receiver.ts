import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import type { TestContext } from "node:test";
import type { Installation } from "./installation.ts";

/** A request that a receiver got. */
export interface Got {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
  atMs: number;
}

/** A receiver of events. */
export interface Receiver {
  url: string;
  /** All requests it received, in order. */
  got: Got[];
  /** The events among them. */
  events(): Got[];
  /** Sets how it answers: a status, or a function that writes the whole answer. */
  answer: number | ((req: IncomingMessage, res: ServerResponse, got: Got) => void);
  /** Sets how it answers the handshake. */
  handshake: number | ((req: IncomingMessage, res: ServerResponse, got: Got) => void);
  /** The number of unanswered requests now, and the highest so far. */
  open: { now: number; most: number };
  close(): Promise<void>;
}

/** Starts it on a free port. It ends with the test. */
export async function startReceiver(
  t: TestContext,
  { tls, port = 0 }: { tls?: { cert: string; key: string }; port?: number } = {},
): Promise<Receiver> {
  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    receiver.open.now += 1;
    receiver.open.most = Math.max(receiver.open.most, receiver.open.now);
    res.once("close", () => {
      receiver.open.now -= 1;
    });
    const chunks: Buffer[] = [];
    req
      .on("data", (chunk: Buffer) => void chunks.push(chunk))
      .on("end", () => {
        const { method = "", url = "", headers, rawHeaders } = req;
        const got = {
          method,
          path: url,
          headers,
          rawHeaders,
          body: Buffer.concat(chunks).toString(),
          atMs: Date.now(),
        };
        receiver.got.push(got);
        const answer = method === "OPTIONS" ? receiver.handshake : receiver.answer;
        if (typeof answer === "number") res.writeHead(answer).end();
        else answer(req, res, got);
      });
  };
  const server: Server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http${tls === undefined ? "" : "s"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got: [],
    answer: 204,
    handshake: 405,
    open: { now: 0, most: 0 },
    events: () => receiver.got.filter(({ method }) => method === "POST"),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  t.after(() => receiver.close());
  return receiver;
}

/** Lets the server listen on a free port until the test ends. Returns its http URL. */
export async function listening(t: TestContext, server: NetServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => void sockets.add(socket.once("close", () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The fields of a subscription and of a delivery that tests read. */
export interface Subscription {
  uid: string;
  secret: string;
  state: string;
  stateReason: string;
  allowedRate: number;
}
interface Attempt {
  startTime: string;
  latency: string;
  status: number;
  error: string;
}
export interface Delivery {
  uid: string;
  eventId: string;
  eventType: string;
  eventSubject: string;
  state: string;
  tries: number;
  lastStatus: number;
  lastError: string;
  nextTryTime?: string;
  createTime: string;
  attempts: Attempt[];
}

/** Settings for receivers on this machine, with short delays between attempts. */
export const QUICK = {
  MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
  MOORAGE_EVENTS_RETRY: "50ms,50ms,50ms,50ms,50ms,50ms",
  MOORAGE_EVENTS_TIMEOUT: "20s",
};

/** A type filter for a subscription to test events alone. */
export const ONLY_TESTS = { typePrefixes: ["dev.moorage.events.test."] };

/** The owner's calls about events. */
export function eventsOf({ api, bootstrap }: Pick<Installation, "api" | "bootstrap">) {
  const organization = bootstrap.organization.uid;
  return {
    organization,
    subscribe: (sink: string, more: object = {}, parent = organization) =>
      api<Subscription>("POST", `/events/v2/subscriptions/${parent}`, { sink, ...more }),
    subscription: (uid: string) => api<Subscription>("GET", `/events/v2/subscriptions/${uid}`),
    /** Sends a test event to the subscription. Returns the event's id. */
    test: async (uid: string) =>
      (await api<{ eventId: string }>("POST", `/events/v2/subscriptions/${uid}:test`, {})).eventId,
    resume: (uid: string) => api<Subscription>("POST", `/events/v2/subscriptions/${uid}:resume`, {}),
    deliveries: async (uid: string) =>
      (await api<{ deliveries: Delivery[] }>("GET", `/events/v2/deliveries?uidp.childrenOf=${uid}&page_size=200`))
        .deliveries,
  };
}
