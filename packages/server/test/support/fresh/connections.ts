import { connect as http2Connect } from "node:http2";
import { Client } from "undici";

/** A request that only reads. `grpc`: the path is a method's, and these bytes its message. */
export interface Question {
  method: string;
  path: string;
  headers: Record<string, string>;
  grpc?: Uint8Array;
}
/** A request that may write. */
interface Change {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** One connection for HTTP/1.1 and one for gRPC, each of which one process of the server answers. */
export interface Connection {
  name: string;
  ask(question: Question | Change): Promise<Reply>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 60_000;

export function openConnection(name: string, port: number): Connection {
  const url = `http://127.0.0.1:${port}`;
  const client = new Client(url, { pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  let session: ReturnType<typeof http2Connect> | undefined;
  const opened = (): ReturnType<typeof http2Connect> =>
    (session = session === undefined || session.destroyed ? http2Connect(url) : session);
  return {
    name,
    ask(question) {
      if ("grpc" in question && question.grpc !== undefined) return unary(opened(), question, question.grpc);
      return once(client, question);
    },
    async close() {
      session?.destroy();
      await client.destroy();
    },
  };
}

function once(client: Client, { method, path, headers, ...more }: Question | Change): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const chunks: Buffer[] = [];
  let status = 0;
  let received: Record<string, string> = {};
  client.dispatch(
    // undici closes the connection after a HEAD by default; the next one may go to another process.
    { method, path, headers, reset: false, body: "body" in more && more.body !== undefined ? more.body : null },
    {
      onRequestStart() {},
      onResponseStart(_controller, statusCode, responseHeaders) {
        status = statusCode;
        received = Object.fromEntries(Object.entries(responseHeaders).map(([name, value]) => [name, String(value)]));
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        resolve({ status, headers: received, body: Buffer.concat(chunks) });
      },
      onResponseError(_controller, error) {
        reject(new Error(`${method} ${path}: ${error.message}`, { cause: error }));
      },
    },
  );
  return promise;
}

/** A unary call: its status and message are in the headers. */
function unary(
  session: ReturnType<typeof http2Connect>,
  { path, headers }: Question,
  message: Uint8Array,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const chunks: Buffer[] = [];
  let received: Record<string, string> = {};
  const add = (more: object): void => {
    const entries = Object.entries(more).filter(([name]) => !name.startsWith(":"));
    received = { ...received, ...Object.fromEntries(entries.map(([name, value]) => [name, String(value)])) };
  };
  let status = 0;
  stream
    .on("response", (head) => {
      status = head[":status"] ?? 0;
      add(head);
    })
    .on("trailers", add)
    .on("data", (chunk: Buffer) => chunks.push(chunk))
    .on("end", () => resolve({ status, headers: received, body: Buffer.concat(chunks) }))
    .on("error", reject);
  stream.setTimeout(TIMEOUT_MS, () => stream.destroy(new Error(`${path}: no answer in time`)));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([prefix, message]));
  return promise;
}
