// The tasks of the pools that tests start: good ones, and those that never end by themselves.
import { pbkdf2Sync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { serveTasks } from "../../../kernel/src/lib/process-pool/child.ts";
import { eventually } from "./eventually.ts";

const held: Buffer[] = [];

serveTasks({
  echo: async (input: unknown, data: unknown) => ({ input, data, pid: process.pid }),
  surroundings: async () => ({ env: process.env, execArgv: process.execArgv }),
  fail: async ({ message, isFinal }: { message: string; isFinal: boolean }) => {
    throw Object.assign(new Error(message), { isFinal });
  },
  /** One native call of hours: nothing in this process can end it. Says before that it has begun. */
  hang: async ({ began }: { began: string }) => {
    writeFileSync(began, String(process.pid));
    pbkdf2Sync("", "", 2 ** 31 - 1, 64, "sha512");
  },
  /** Lasts until a file is there. */
  untilThere: async ({ path }: { path: string }) => {
    const { existsSync } = await import("node:fs");
    await eventually(() => existsSync(path));
    return path;
  },
  heap: async () => {
    const lists: object[] = [];
    for (;;) lists.push(Array.from({ length: 1_000 }, (_, n) => ({ n })));
  },
  /** Memory outside of the heap, which its limit does not count. */
  buffers: async () => {
    for (;;) {
      held.push(Buffer.alloc(8 * 2 ** 20, 1));
      await setTimeout(1);
    }
  },
  exit: async () => process.exit(7),
});
