import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { createFairQueue } from "@moorage/kernel/lib/fair-queue";
import { networkOf } from "@moorage/kernel/lib/network";

/** Hashes passwords and compares them, in threads beside the one that serves, two at a time. */
export interface Passwords {
  /** The password in the form that is stored. `address`: of who waits for it. */
  hash(password: string, address: string): Promise<string>;
  /**
   * Whether it is the password of the stored form. Without a form it takes as long, and is false. Throws
   * RESOURCE_EXHAUSTED when too many wait, those of the network with most first.
   */
  verify(password: string, stored: string, address: string): Promise<boolean>;
}

const derive = promisify(argon2);

/** What a hash costs; memory in KiB. Source: OWASP Password Storage Cheat Sheet, Argon2id. */
interface Cost {
  memory: number;
  passes: number;
  parallelism: number;
}
const COST: Cost = { memory: 47_104, passes: 1, parallelism: 1 };
const TAG_BYTES = 32;
const SALT_BYTES = 16;
// Each takes 46 MiB and some 100 ms of a processor.
const MAX_RUNNING = 2;
const MAX_WAITING = 64;
const MAX_WAIT_MS = 10_000;
// The PHC string format, with the salt and the tag in base64url.
const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w-]{1,64})\$([\w-]{1,128})$/;

export function createPasswords(): Passwords {
  const queue = createFairQueue({
    concurrency: MAX_RUNNING,
    maxWaiting: MAX_WAITING,
    timeoutMs: MAX_WAIT_MS,
    reject: () =>
      new MoorageError(
        Code.ResourceExhausted,
        "Resource exhausted: too many passwords are being checked: try again in a moment",
        { retryAfterMs: 5_000 },
      ),
  });
  const inTurn = async (address: string, password: string, nonce: Buffer, cost: Cost): Promise<Buffer> => {
    await queue.begin(networkOf(address));
    try {
      return await derive("argon2id", { message: normal(password), nonce, tagLength: TAG_BYTES, ...cost });
    } finally {
      queue.end();
    }
  };
  return {
    async hash(password, address) {
      const salt = randomBytes(SALT_BYTES);
      const tag = await inTurn(address, password, salt, COST);
      const { memory, passes, parallelism } = COST;
      const cost = `m=${memory},t=${passes},p=${parallelism}`;
      return `$argon2id$v=19$${cost}$${salt.toString("base64url")}$${tag.toString("base64url")}`;
    },
    async verify(password, stored, address) {
      const [, memory, passes, parallelism, salt = "", tag = ""] = FORM.exec(stored) ?? [];
      const cost =
        memory === undefined
          ? COST
          : { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
      const nonce = memory === undefined ? randomBytes(SALT_BYTES) : Buffer.from(salt, "base64url");
      const found = await inTurn(address, password, nonce, cost);
      const expected = Buffer.from(tag, "base64url");
      return memory !== undefined && expected.length === found.length && timingSafeEqual(expected, found);
    },
  };
}

/** The same characters, however the keyboard composes them. Source: NIST SP 800-63B-4 §3.1.1.2. */
function normal(password: string): string {
  return password.normalize("NFKC");
}
