import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Rule, type Scanned, scanner } from "./fault-proxy-rules.ts";

// Chunks are cut when the rate is limited, so that bytes come slowly and not in bursts.
const SLICE_MS = 20;
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** What happens to the bytes that a proxy forwards in one direction. */
export interface Direction {
  /** The number of bytes that were received. */
  readonly bytes: number;
  /** Resolves once that many more bytes were received. */
  more(bytes: number): Promise<void>;
  /** While true, received bytes are dropped. */
  drops: boolean;
  /** How much later each byte arrives, in milliseconds. */
  delayMs: number;
  /** For each connection. */
  bytesPerSecond: number;
  /** What happens at a place of the stream. The first rule that applies counts. */
  rules: Rule[];
  /** Holds back what comes from now on; connections stay open. */
  stall(): void;
  /** Forwards what is held back by `stall`, or by a rule. */
  resume(): void;
  /** Forwards everything from one socket to the other. */
  forward(from: Socket, to: Socket): void;
}

export function openDirection(): Direction {
  let watches: { at: number; resolve: () => void }[] = [];
  let isStalled = false;
  let resumed = Promise.withResolvers<void>();
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    for (const { resolve } of watches.filter(({ at }) => at <= bytes)) resolve();
    watches = watches.filter(({ at }) => at > bytes);
  };
  const direction: Direction = {
    get bytes() {
      return bytes;
    },
    more: (some) => new Promise((resolve) => watches.push({ at: bytes + some, resolve })),
    drops: false,
    delayMs: 0,
    bytesPerSecond: Infinity,
    rules: [],
    stall() {
      isStalled = true;
    },
    resume() {
      isStalled = false;
      resumed.resolve();
      resumed = Promise.withResolvers();
    },
    forward(from, to) {
      // After a regular end, what is still to be written must reach the other side.
      from.once("close", () => {
        if (!from.readableEnded) to.destroy();
      });
      void pump(from, to).catch(() => from.destroy());
    },
  };

  async function pump(from: Socket, to: Socket): Promise<void> {
    const scan = scanner();
    let writing: Promise<void> = Promise.resolve();
    let heldBytes = 0;
    for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      count(chunk.length);
      if (direction.drops) continue;
      const scanned = scan(chunk, direction.rules);
      const due = direction.delayMs > 0 ? wait(direction.delayMs, undefined, { ref: false }) : undefined;
      heldBytes += chunk.length;
      writing = writing.then(async () => {
        await due;
        await forward(scanned, from, to);
        heldBytes -= chunk.length;
      });
      writing.catch(() => from.destroy());
      if (due === undefined || heldBytes > MAX_HELD_BYTES) await writing;
    }
    await writing;
    while (isStalled) await resumed.promise;
    to.end();
  }

  async function forward({ forwarded, fault, rest }: Scanned, from: Socket, to: Socket): Promise<void> {
    while (isStalled) await resumed.promise;
    await write(to, forwarded);
    if (fault === "stall") await resumed.promise;
    if (fault === "cut") from.destroy();
    if (fault === "reset") {
      to.resetAndDestroy();
      from.resetAndDestroy();
    }
    if (!to.destroyed && !from.destroyed) await write(to, rest);
  }

  async function write(to: Socket, content: Buffer): Promise<void> {
    for (let at = 0; at < content.length;) {
      const { bytesPerSecond } = direction;
      const isLimited = Number.isFinite(bytesPerSecond);
      const slice = isLimited ? Math.max(1, Math.floor((bytesPerSecond * SLICE_MS) / 1000)) : content.length;
      const piece = content.subarray(at, at + slice);
      at += piece.length;
      await new Promise<void>((resolve, reject) => {
        to.write(piece, (error) => (error ? reject(error) : resolve()));
      });
      if (isLimited) await wait((piece.length / bytesPerSecond) * 1000);
    }
  }
  return direction;
}
