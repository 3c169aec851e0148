// Generates unary gRPC load over HTTP/2 in clear text. Each stream of a connection sends its call once its last
// response has ended. Frames are prepared bytes, like those of a client after its first call: all headers are in the
// server's table. Responses are only counted, so that the server limits the rate; one without a message counts as
// failed.
import { connect } from "node:net";
import type { Socket } from "node:net";
import { answered, type Counts, linesOf, type LoadResult, measure } from "./load.ts";

export interface GrpcLoad {
  port: number;
  connections: number;
  /** Concurrent calls on each connection; the server must allow them. */
  streams: number;
  durationMs: number;
  /** Such as `/moorage.ping.v2.PingService/Ping`. */
  path: string;
  /** The value of the header; empty for none. */
  authorization: string;
  /** The request message, in base64. */
  message: string;
  /** A file of such messages, one on each line, used in turn instead of `message`. */
  fill?: string;
}

const RECEIVE_BYTES = 64 * 1024;
const FRAME_HEAD = 9;
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const WINDOW = 2 ** 30;

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A text without Huffman coding, preceded by its length. Source: RFC 7541 §5. */
function hpackText(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const length = [Math.min(bytes.length, 127)];
  if (bytes.length >= 127) {
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** The header block that adds the headers to the server's table, and the block that refers to them in later calls. */
function blocks(headers: [string, string][]): { first: Buffer; later: Buffer } {
  // From the static table: POST and http.
  const known = Buffer.from([0x83, 0x86]);
  const added = headers.map(([name, value]) => Buffer.concat([Buffer.from([0x40]), hpackText(name), hpackText(value)]));
  const named = headers.map((_, index) => 0x80 | (62 + headers.length - 1 - index));
  return { first: Buffer.concat([known, ...added]), later: Buffer.concat([known, Buffer.from(named)]) };
}

function call(block: Buffer, envelope: Buffer): { bytes: Buffer; dataAt: number } {
  const headers = frame(HEADERS, END_HEADERS, 0, block);
  return { bytes: Buffer.concat([headers, frame(DATA, END_STREAM, 0, envelope)]), dataAt: headers.length };
}

/**
 * A message in the form of the body, preceded by its length. Source: the protocol of gRPC over HTTP/2,
 * "Length-Prefixed-Message".
 */
function enveloped(base64: string): Buffer {
  const message = Buffer.from(base64, "base64");
  const envelope = Buffer.concat([Buffer.alloc(5), message]);
  envelope.writeUInt32BE(message.length, 1);
  return envelope;
}

/** A function that returns the next call. */
function callsOf({ message, fill }: GrpcLoad, block: Buffer): () => ReturnType<typeof call> {
  if (fill !== undefined) {
    const line = linesOf(fill);
    return () => call(block, enveloped(line()));
  }
  const same = call(block, enveloped(message));
  return () => same;
}

function windowUpdate(by: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(by);
  return frame(WINDOW_UPDATE, 0, 0, payload);
}

function open(load: GrpcLoad, counts: Counts, fail: (error: Error) => void): Socket {
  const headers: [string, string][] = [
    [":path", load.path],
    [":authority", `127.0.0.1:${load.port}`],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
    ["user-agent", "bench"],
    ["grpc-accept-encoding", "identity,deflate,gzip"],
  ];
  if (load.authorization !== "") headers.push(["authorization", load.authorization]);
  const { first, later } = blocks(headers);
  const again = callsOf(load, later);
  // Calls in progress, and whether their message has arrived.
  const open = new Map<number, boolean>();
  let nextStream = 1;
  const called = ({ bytes, dataAt }: { bytes: Buffer; dataAt: number }): Buffer => {
    const copy = Buffer.from(bytes);
    copy.writeUInt32BE(nextStream, 5);
    copy.writeUInt32BE(nextStream, dataAt + 5);
    open.set(nextStream, false);
    nextStream += 2;
    counts.underWay += 1;
    return copy;
  };
  let owedWindow = 0;
  let output: Buffer[] = [];
  const ended = (stream: number, isGood: boolean, why: string): void => {
    if (!open.delete(stream)) return;
    if (!isGood) {
      counts.failures += 1;
      counts.firstFailure ||= why;
    }
    if (answered(counts)) output.push(called(again()));
  };
  const take = (type: number, flags: number, stream: number, payload: Buffer): void => {
    if (type === DATA) {
      if (payload.length > 0 && open.has(stream)) open.set(stream, true);
      owedWindow += payload.length;
      if (owedWindow > WINDOW / 2) {
        output.push(windowUpdate(owedWindow));
        owedWindow = 0;
      }
    }
    const isLast = (type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0;
    if (isLast) ended(stream, type === HEADERS && open.get(stream) === true, "an answer without message or trailers");
    if (type === RST_STREAM) ended(stream, false, `stream reset with code ${payload.readUInt32BE()}`);
    if (type === SETTINGS && (flags & ACK) === 0) output.push(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    if (type === PING && (flags & ACK) === 0) output.push(frame(PING, ACK, 0, payload));
    if (type === GOAWAY) fail(new Error(`the server goes away: ${payload.toString("latin1", 8)}`));
  };
  let rest = Buffer.alloc(0);
  const receive = (length: number, buffer: Uint8Array): boolean => {
    counts.bytes += length;
    const came = Buffer.from(buffer.buffer, buffer.byteOffset, length);
    const view = rest.length > 0 ? Buffer.concat([rest, came]) : came;
    let at = 0;
    while (view.length - at >= FRAME_HEAD) {
      const end = at + FRAME_HEAD + view.readUIntBE(at, 3);
      if (end > view.length) break;
      take(
        view.readUInt8(at + 3),
        view.readUInt8(at + 4),
        view.readUInt32BE(at + 5) & 0x7fff_ffff,
        view.subarray(at + FRAME_HEAD, end),
      );
      at = end;
    }
    rest = Buffer.from(view.subarray(at));
    if (output.length > 0) socket.write(Buffer.concat(output));
    output = [];
    return true;
  };
  const socket = connect({
    port: load.port,
    host: "127.0.0.1",
    noDelay: true,
    onread: { buffer: new Uint8Array(RECEIVE_BYTES), callback: receive },
  });
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server closed a connection")));
  socket.on("connect", () => {
    // No push and large windows, so that the server never waits for the client.
    const settings = Buffer.from([0, 2, 0, 0, 0, 0, 0, 4, 0x40, 0, 0, 0]);
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
    const begin = [
      preface,
      frame(SETTINGS, 0, 0, settings),
      windowUpdate(WINDOW - 65_535),
      called(call(first, enveloped(load.message))),
    ];
    for (let count = 1; count < load.streams; count += 1) begin.push(called(again()));
    socket.write(Buffer.concat(begin));
  });
  return socket;
}

export function runGrpc(load: GrpcLoad): Promise<LoadResult> {
  return measure(load.durationMs, (counts, fail) =>
    Array.from({ length: load.connections }, () => open(load, counts, fail)),
  );
}
