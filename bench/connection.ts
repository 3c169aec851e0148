import { connect, type Socket } from "node:net";

/** What a client needs of a response. `location` as it was sent; `text` is the whole response. */
interface Answer {
  status: number;
  location: string;
  text: string;
}

/** A connection of HTTP/1.1 with one request in progress at a time. */
export interface Connection {
  socket: Socket;
  /** Sends a prepared request, and resolves when the whole response has arrived. Rejects when the connection ends. */
  exchange(request: Buffer, method: string): Promise<Answer>;
}

const HEAD_END = "\r\n\r\n";
const CHUNKED_END = "\r\n0\r\n\r\n";
// Source: RFC 9112, 6.3: these responses have no body, whatever their length says.
const BODILESS = new Set([204, 304]);

/** Connects; requests may be sent immediately. */
export function openConnection(port: number): Connection {
  let waiting: { method: string; resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  let text = "";
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    if (waiting === undefined || !isWhole(text, waiting.method)) return;
    const { resolve } = waiting;
    const answer = { status: Number(text.slice(9, 12)), location: field(text, "location"), text };
    waiting = undefined;
    text = "";
    resolve(answer);
  });
  const end = (error: Error): void => waiting?.reject(error);
  socket.on("error", end);
  socket.on("close", () => end(new Error("the server closed a connection")));
  return {
    socket,
    exchange(request, method) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      waiting = { method, resolve, reject };
      if (socket.destroyed) reject(new Error("the connection has ended"));
      else socket.write(request);
      return promise;
    },
  };
}

function field(text: string, name: string): string {
  const head = text.slice(0, text.indexOf(HEAD_END));
  return new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
}

function isWhole(text: string, method: string): boolean {
  const end = text.indexOf(HEAD_END);
  if (end < 0) return false;
  if (method === "HEAD" || BODILESS.has(Number(text.slice(9, 12)))) return true;
  const length = field(text, "content-length");
  return length === "" ? text.endsWith(CHUNKED_END) : text.length >= end + HEAD_END.length + Number(length);
}
