// Generates HTTP/1.1 load. Each connection sends a request, waits for the whole response, sends the next: no
// pipelining. Requests are prepared bytes and only the length of responses is determined, so that the server limits the
// rate.
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

export interface Load {
  port: number;
  connections: number;
  durationMs: number;
  /** The raw requests that a connection repeats; connection i uses sequence i modulo their number. */
  sequences: string[][];
  /** A file with a line for each request: the lines replace PLACE in the requests in turn. */
  fill?: string;
}

export interface LoadResult {
  answers: number;
  /** The number of responses with a status other than 2xx, and the first of them. */
  failures: number;
  firstFailure: string;
  bytes: number;
  /** Until the last response: requests in progress at the end of the time are waited for. */
  elapsedMs: number;
  /** The share of its core that the load generator used: near 1, the load generator was the limit of the row. */
  loadShare: number;
  /** The time that 99 of 100 responses stayed below, in milliseconds. Undefined where times are not taken. */
  p99Ms?: number;
}

/** The counts of a run so far. */
export interface Counts {
  answers: number;
  failures: number;
  firstFailure: string;
  bytes: number;
  isOver: boolean;
  underWay: number;
  onIdle(): void;
  /** From sending each request to the end of its response, in milliseconds. */
  times: number[];
}

/** The form of a response: another response with the same bytes at these positions has the same length. */
interface Shape {
  headEnd: number;
  total: number;
  lengthAt: number;
  lengthText: Buffer;
}

export const PLACE = "{}";
const RECEIVE_BYTES = 64 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n");
const HEAD_END_NUMBER = HEAD_END.readUInt32BE();
const CHUNKED_END = Buffer.from("\r\n0\r\n\r\n");
const TWO = 0x32;
const EMPTY = Buffer.alloc(0);
// Responses in progress at the end are waited for, so that they do not affect the next row.
const DRAIN_TIMEOUT_MS = 10_000;

/** Runs connections for the time, or until `end`, then until no request is in progress. */
export async function measure(
  durationMs: number,
  open: (counts: Counts, fail: (error: Error) => void) => Pick<Socket, "destroy">[],
  end?: Promise<void>,
): Promise<LoadResult> {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const { promise: idle, resolve } = Promise.withResolvers<void>();
  const counts: Counts = {
    answers: 0,
    failures: 0,
    firstFailure: "",
    bytes: 0,
    isOver: false,
    underWay: 0,
    onIdle: resolve,
    times: [],
  };
  const began = performance.now();
  const used = process.cpuUsage();
  const sockets = open(counts, reject);
  const timers: NodeJS.Timeout[] = [];
  const after = (ms: number): Promise<void> =>
    new Promise((done) => {
      timers.push(setTimeout(done, ms));
    });
  try {
    await Promise.race([failed, after(durationMs), ...(end === undefined ? [] : [end])]);
    counts.isOver = true;
    if (counts.underWay > 0) await Promise.race([failed, idle, after(DRAIN_TIMEOUT_MS)]);
    const elapsedMs = performance.now() - began;
    const { user, system } = process.cpuUsage(used);
    const { answers, failures, firstFailure, bytes, times } = counts;
    const p99Ms = Float64Array.from(times).sort()[Math.ceil(times.length * 0.99) - 1];
    return {
      answers,
      failures,
      firstFailure,
      bytes,
      elapsedMs,
      loadShare: (user + system) / 1000 / elapsedMs,
      ...(p99Ms !== undefined && { p99Ms }),
    };
  } finally {
    counts.isOver = true;
    for (const timer of timers) clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
}

/** Records a response, and returns whether to send another request. */
export function answered(counts: Counts): boolean {
  counts.answers += 1;
  counts.underWay -= 1;
  if (counts.isOver && counts.underWay === 0) counts.onIdle();
  return !counts.isOver;
}

const files = new Map<string, { lines: string[]; at: number }>();

/**
 * The lines of a file in turn, repeatedly. It continues where the last run with the same file ended: no line is
 * repeated before all others were used.
 */
export function linesOf(file: string): () => string {
  const known = files.get(file) ?? { lines: readFileSync(file, "utf8").split("\n"), at: 0 };
  files.set(file, known);
  return () => {
    known.at = (known.at + 1) % known.lines.length;
    return known.lines[known.at] ?? "";
  };
}

/** A function that returns the next request of a connection. */
function requestsOf(texts: string[], line: (() => string) | undefined): () => Buffer {
  if (texts.length === 0) throw new Error("a connection has nothing to send");
  const prepared = texts.map((text) => Buffer.from(text, "utf8"));
  const parts = texts.map((text) => text.split(PLACE));
  let at = -1;
  return () => {
    at = (at + 1) % texts.length;
    const [before = "", after] = parts[at] ?? [];
    return line !== undefined && after !== undefined
      ? Buffer.from(before + line() + after, "latin1")
      : (prepared[at] ?? Buffer.alloc(0));
  };
}

export function runHttp(load: Load): Promise<LoadResult> {
  const line = load.fill === undefined ? undefined : linesOf(load.fill);
  return measure(load.durationMs, (counts, fail) =>
    Array.from({ length: load.connections }, (_, index) =>
      open(load.port, requestsOf(load.sequences[index % load.sequences.length] ?? [], line), counts, fail),
    ),
  );
}

function open(
  port: number,
  request: () => Buffer,
  counts: Counts,
  fail: (error: Error) => void,
): Pick<Socket, "destroy"> {
  // Bytes of the current response that have not arrived; -1: its head has not been read, -2: it is chunked, without a
  // length.
  let owed = -1;
  let head = Buffer.alloc(0);
  let shape: Shape | undefined;
  let sentMs = 0;
  // The end of what has arrived of a response without a length.
  let tail = EMPTY;
  // The server closes the connection after this response: the next request needs another one.
  let closes = false;
  const next = (): void => {
    owed = -1;
    counts.underWay += 1;
    sentMs = performance.now();
    socket.write(request());
  };
  const readHead = (view: Buffer): void => {
    const end = view.indexOf(HEAD_END);
    if (end < 0) {
      head = Buffer.from(view);
      return;
    }
    head = Buffer.alloc(0);
    const text = view.toString("latin1", 0, end);
    const declared = /content-length: *(\d+)/i.exec(text);
    const total = declared ? end + HEAD_END.length + Number(declared[1]) : 0;
    owed = declared ? total - view.length : -2;
    const isGood = text.charCodeAt(9) === TWO;
    if (!isGood) {
      counts.failures += 1;
      counts.firstFailure ||= view.toString("utf8", 0, 600);
    }
    if (owed === -2 && text.startsWith("HTTP/1.1 204")) owed = 0;
    shape = undefined;
    closes = /^connection: *close/im.test(text);
    if (!declared || !isGood || closes) return;
    // Including the end of the line, so that a longer number does not match.
    const lengthText = Buffer.from(view.subarray(declared.index, declared.index + declared[0].length + 2));
    shape = { headEnd: end, total, lengthAt: declared.index, lengthText };
  };
  const receive = (length: number, buffer: Uint8Array): boolean => {
    counts.bytes += length;
    let view = Buffer.from(buffer.buffer, buffer.byteOffset, length);
    if (owed >= 0) {
      owed -= length;
    } else if (owed === -1) {
      if (head.length > 0) view = Buffer.concat([head, view]);
      const isAlike =
        shape?.total === view.length &&
        view[9] === TWO &&
        view.readUInt32BE(shape.headEnd) === HEAD_END_NUMBER &&
        view.compare(
          shape.lengthText,
          0,
          shape.lengthText.length,
          shape.lengthAt,
          shape.lengthAt + shape.lengthText.length,
        ) === 0;
      if (isAlike) {
        head = Buffer.alloc(0);
        owed = 0;
      } else {
        readHead(view);
      }
    }
    if (owed === -2) tail = Buffer.concat([tail, view.subarray(-CHUNKED_END.length)]).subarray(-CHUNKED_END.length);
    if (owed === 0 || (owed === -2 && tail.equals(CHUNKED_END))) {
      tail = EMPTY;
      counts.times.push(performance.now() - sentMs);
      if (!answered(counts)) return true;
      if (closes) again();
      else next();
    }
    return true;
  };
  const begin = (): Socket => {
    const made = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer: new Uint8Array(RECEIVE_BYTES), callback: receive },
    });
    made.on("connect", next);
    made.on("error", (error) => made === socket && fail(error));
    made.on("close", () => made === socket && !closes && fail(new Error("the server closed a connection")));
    return made;
  };
  const again = (): void => {
    const ended = socket;
    socket = begin();
    ended.destroy();
  };
  let socket = begin();
  return { destroy: () => socket.destroy() };
}
