// Makes HTTP/1.1 load: reads a Load as JSON from standard input, prints a LoadResult. Each connection sends a request, waits for the whole
// answer, sends the next: no pipelining. Requests are prepared bytes and answers are only measured, so that the server is what is busy.
import { connect } from "node:net";

export interface Load {
  port: number;
  connections: number;
  durationMs: number;
  /** What a connection sends, over and over, as raw requests; connection i takes sequence i modulo their number. */
  sequences: string[][];
}

export interface LoadResult {
  answers: number;
  /** Answers whose status was not 2xx, and the first of them. */
  failures: number;
  firstFailure: string;
  bytes: number;
  elapsedMs: number;
  /** How much of its core the load itself took: near 1, the load was what bounded the row. */
  loadShare: number;
}

const RECEIVE_BYTES = 64 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n");
const CHUNKED_END = Buffer.from("\r\n0\r\n\r\n");

export function run(load: Load): Promise<LoadResult> {
  const { promise, resolve, reject } = Promise.withResolvers<LoadResult>();
  const result = { answers: 0, failures: 0, firstFailure: "", bytes: 0 };
  const sockets = Array.from({ length: load.connections }, (_, index) => {
    const requests = (load.sequences[index % load.sequences.length] ?? []).map((text) => Buffer.from(text, "utf8"));
    let at = 0;
    // Bytes that the answer under way still owes; -1: its head has not been read, -2: it is chunked and has no length.
    let owed = -1;
    let head = Buffer.alloc(0);
    const next = () => {
      const request = requests[at];
      at = (at + 1) % requests.length;
      owed = -1;
      if (request) socket.write(request);
    };
    const receive = (length: number, buffer: Uint8Array): boolean => {
      result.bytes += length;
      let view = Buffer.from(buffer.buffer, buffer.byteOffset, length);
      if (owed >= 0) {
        owed -= length;
      } else if (owed === -1) {
        if (head.length > 0) view = Buffer.concat([head, view]);
        const end = view.indexOf(HEAD_END);
        if (end < 0) {
          head = Buffer.from(view);
          return true;
        }
        head = Buffer.alloc(0);
        const text = view.toString("latin1", 0, end);
        const declared = /content-length: *(\d+)/i.exec(text);
        owed = declared ? Number(declared[1]) - (view.length - end - 4) : -2;
        if (text.charCodeAt(9) !== 0x32) {
          result.failures += 1;
          result.firstFailure ||= view.toString("utf8", 0, 600);
        }
        if (owed === -2 && text.startsWith("HTTP/1.1 204")) owed = 0;
      }
      if (owed === 0 || (owed === -2 && view.subarray(-CHUNKED_END.length).equals(CHUNKED_END))) {
        result.answers += 1;
        next();
      }
      return true;
    };
    const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true, onread: { buffer: new Uint8Array(RECEIVE_BYTES), callback: receive } });
    socket.on("connect", next);
    socket.on("error", reject);
    return socket;
  });
  const began = performance.now();
  const used = process.cpuUsage();
  setTimeout(() => {
    const elapsedMs = performance.now() - began;
    const { user, system } = process.cpuUsage(used);
    for (const socket of sockets) socket.destroy();
    resolve({ ...result, elapsedMs, loadShare: (user + system) / 1000 / elapsedMs });
  }, load.durationMs);
  return promise;
}

if (import.meta.main) {
  let input = "";
  for await (const chunk of process.stdin) input += String(chunk);
  process.stdout.write(JSON.stringify(await run(JSON.parse(input) as Load)));
}
