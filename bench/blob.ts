// Sends or fetches one large body over its own connection, and measures the time.
import { createHash } from "node:crypto";
import { connect } from "node:net";

export interface Transfer {
  direction: "up" | "down";
  port: number;
  /** The whole head of the request, including the empty line. `DIGEST` in it is replaced by the digest of the body. */
  head: string;
  bytes: number;
  /** Determines the body; different seeds give different bodies. */
  seed: number;
}

/** The digest of what was sent. */
export interface TransferResult {
  seconds: number;
  digest: string;
}

const BLOCK_BYTES = 1 << 20;

/** The block number `index` of a body: incompressible bytes, different in every block and for every seed. */
function block(seed: number, index: number, into: Buffer): Buffer {
  into.writeDoubleLE(seed + 0.5, 0);
  into.writeUInt32LE(index, 8);
  return into;
}

function source(): Buffer {
  const buffer = Buffer.alloc(BLOCK_BYTES);
  let state = 0x9e3779b9;
  for (let at = 0; at < BLOCK_BYTES; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    buffer.writeUInt32LE(state, at);
  }
  return buffer;
}

function digestOf(bytes: number, seed: number): string {
  const hash = createHash("sha256");
  const buffer = source();
  for (let at = 0; at < bytes; at += BLOCK_BYTES)
    hash.update(block(seed, at / BLOCK_BYTES, buffer).subarray(0, Math.min(BLOCK_BYTES, bytes - at)));
  return `sha256:${hash.digest("hex")}`;
}

export function transfer(input: Transfer): Promise<TransferResult> {
  const { promise, resolve, reject } = Promise.withResolvers<TransferResult>();
  const up = input.direction === "up";
  const digest = up ? digestOf(input.bytes, input.seed) : "";
  let began = 0;
  let head = "";
  let owed = -1;
  const receive = (length: number, buffer: Uint8Array): boolean => {
    let body = length;
    if (owed < 0) {
      head += Buffer.from(buffer.buffer, buffer.byteOffset, length).toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return true;
      if (!/^HTTP\/1\.1 20[01]/.test(head)) {
        reject(new Error(head.slice(0, 600)));
        return false;
      }
      owed = up ? 0 : Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? -1);
      if (!up && owed !== input.bytes) reject(new Error(`expected ${input.bytes} bytes: ${head.slice(0, 400)}`));
      body = head.length - end - 4;
    }
    if (!up) owed -= body;
    if (owed === 0) {
      socket.destroy();
      resolve({ seconds: (performance.now() - began) / 1000, digest });
    }
    return true;
  };
  const socket = connect({
    port: input.port,
    host: "127.0.0.1",
    noDelay: true,
    onread: { buffer: new Uint8Array(BLOCK_BYTES), callback: receive },
  });
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("the connection was closed")));
  socket.on("connect", async () => {
    began = performance.now();
    socket.write(input.head.replaceAll("DIGEST", digest));
    if (!up) return;
    const base = source();
    for (let index = 0; index * BLOCK_BYTES < input.bytes; index += 1) {
      // The socket may still use the memory of the block before, so each block is written from its own memory.
      const part = block(input.seed, index, Buffer.from(base)).subarray(
        0,
        Math.min(BLOCK_BYTES, input.bytes - index * BLOCK_BYTES),
      );
      if (!socket.write(part))
        await new Promise((drained) => {
          socket.once("drain", () => drained(undefined));
        });
    }
  });
  return promise;
}
