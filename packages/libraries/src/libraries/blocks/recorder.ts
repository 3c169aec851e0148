import type { CallData } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { BLOCKS_PER_TRANSACTION, type NotedBlock, noteBlocks } from "./commands.ts";

/** One request that met a verdict. */
export type BlockNote = Pick<NotedBlock, "group" | "ecosystem" | "name" | "version" | "verdict" | "mode">;

/** Has what was blocked written to the list of blocks, for which requests do not wait. */
export interface BlockRecorder {
  /** Queues it: it is written within a second. Returns immediately and never throws. */
  note(data: CallData, note: BlockNote): void;
  /** Writes what is still queued. */
  close(): Promise<void>;
}

interface BlockRecorderDeps {
  writer: CommandWriter;
  clock: { nowMs(): number };
  log: { error(fields: object, message: string): void };
  metrics: {
    noted(reason: string, mode: string): void;
    /** Called with the number of requests that are not written. */
    dropped(count: number): void;
  };
}

const FLUSH_EVERY_MS = 1_000;
const MAX_WAITING = 10_000;
const MAX_ATTEMPTS = 3;
/** Longer texts, which upstreams may send, are cut. */
const MAX_CHARS = { name: 512, version: 256, detail: 1_000, userAgent: 256 } as const;

/**
 * A recorder. Requests that differ in their time alone wait as one. A full queue takes no other ones: of what is asked
 * for again and again nothing is lost then but numbers.
 */
export function createBlockRecorder({ writer, clock, log, metrics }: BlockRecorderDeps): BlockRecorder {
  let waiting = new Map<string, NotedBlock>();
  let flushing: Promise<void> | undefined;

  const write = async (blocks: readonly NotedBlock[]): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await writer.write(noteBlocks, systemCall(clock.nowMs()), { blocks });
      } catch (error) {
        if (attempt < MAX_ATTEMPTS) continue;
        metrics.dropped(blocks.reduce((sum, { count }) => sum + count, 0));
        return log.error({ err: error, count: blocks.length }, "writing what was blocked failed");
      }
    }
  };
  const flush = async (): Promise<void> => {
    while (waiting.size > 0) {
      // In one order, so that two processes that write the same rows wait for each other and do not lock each other.
      const blocks = [...waiting].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, block]) => block);
      waiting = new Map();
      for (let at = 0; at < blocks.length; at += BLOCKS_PER_TRANSACTION)
        await write(blocks.slice(at, at + BLOCKS_PER_TRANSACTION));
    }
  };
  const flushOnce = (): Promise<void> =>
    (flushing ??= flush().finally(() => {
      flushing = undefined;
    }));
  const timer = setInterval(() => void flushOnce(), FLUSH_EVERY_MS).unref();

  return {
    note({ caller, nowMs, remoteAddress, userAgent }, { verdict, ...note }) {
      const { group, ecosystem, mode } = note;
      metrics.noted(verdict.reason, mode);
      const name = cut(note.name, MAX_CHARS.name);
      const version = cut(note.version, MAX_CHARS.version);
      const key = JSON.stringify([group, ecosystem, name, version, verdict.reason, mode, caller.identity]);
      const known = waiting.get(key);
      if (known === undefined && waiting.size >= MAX_WAITING) return metrics.dropped(1);
      waiting.set(key, {
        group,
        ecosystem,
        name,
        version,
        mode,
        verdict: { ...verdict, detail: cut(verdict.detail, MAX_CHARS.detail) },
        by: { identity: caller.identity, act: caller.act ?? {} },
        count: (known?.count ?? 0) + 1,
        firstMs: known?.firstMs ?? nowMs,
        lastMs: Math.max(known?.lastMs ?? nowMs, nowMs),
        remoteAddress,
        userAgent: cut(userAgent, MAX_CHARS.userAgent),
      });
      if (waiting.size >= BLOCKS_PER_TRANSACTION) void flushOnce();
    },
    async close() {
      clearInterval(timer);
      await flushOnce();
      await flushOnce();
    },
  };
}

// PostgreSQL rejects null characters and unpaired surrogates, and index entries of more than some 2,700 bytes.
function cut(text: string, chars: number): string {
  const short = text.slice(0, chars).replaceAll("\0", "").toWellFormed();
  return Buffer.byteLength(short) <= 2 * chars ? short : short.slice(0, chars / 2).toWellFormed();
}
