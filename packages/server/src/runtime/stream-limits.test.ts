import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Code, MoorageError, unauthenticated } from "@moorage/kernel/errors";
import { createSlots, guarded } from "./stream-limits.ts";

const LIMIT = { timeout: 300_000 };
const never = new AbortController().signal;

/** Yields increasing numbers after pauses; ends with the signal's reason. */
async function* counting(ended: AbortSignal, everyMs = 5): AsyncGenerator<number> {
  for (let at = 0; ; at++) {
    await wait(everyMs, undefined, { signal: ended }).catch(() => {
      throw ended.reason;
    });
    yield at;
  }
}
const idle = (ended: AbortSignal): AsyncGenerator<number> => counting(ended, 60_000);
async function endOf(messages: AsyncIterable<unknown>): Promise<{ error: unknown; count: number }> {
  let count = 0;
  try {
    for await (const _ of messages) count += 1;
  } catch (error) {
    return { error, count };
  }
  return { error: undefined, count };
}

test("a stream ends with the error that the check throws, even without messages", LIMIT, async () => {
  const over = unauthenticated("over");
  let checks = 0;
  const check = async (): Promise<void> => {
    if (++checks === 3) throw over;
  };
  assert.deepEqual(await endOf(guarded(idle, { signal: never, check, everyMs: 5 })), { error: over, count: 0 });
  assert.equal(checks, 3);
});

test("no message is sent without a recent check", LIMIT, async () => {
  const over = unauthenticated("over");
  let allowed = true;
  const messages = guarded(counting, {
    signal: never,
    check: async () => {
      if (!allowed) throw over;
    },
    everyMs: 60_000,
    freshMs: 0,
  });
  for (let at = 0; at < 3; at++) assert.deepEqual(await messages.next(), { done: false, value: at });
  allowed = false;
  assert.deepEqual(await endOf(messages), { error: over, count: 0 });
});

test("the check runs at the known end of the token", LIMIT, async () => {
  const over = unauthenticated("over");
  assert.deepEqual(
    await endOf(
      guarded(idle, {
        signal: never,
        check: async () => {
          throw over;
        },
        endsInMs: 5,
      }),
    ),
    { error: over, count: 0 },
  );
});

test("a stream ends with the signal's reason, and when its reader stops", LIMIT, async () => {
  const left = new AbortController();
  setTimeout(() => left.abort("left"), 20);
  assert.deepEqual(await endOf(guarded(idle, { signal: left.signal, check: async () => {} })), {
    error: "left",
    count: 0,
  });
  let given: AbortSignal | undefined;
  const messages = guarded((ended) => counting((given = ended)), { signal: never, check: async () => {} });
  await messages.next();
  await messages.return(undefined);
  assert.equal(given?.aborted, true);
});

test("the number of streams is limited, in all and for each identity", LIMIT, async () => {
  const slots = createSlots({ all: 3, identity: 2 });
  const isFull = (error: unknown): boolean => error instanceof MoorageError && error.code === Code.ResourceExhausted;
  const open = async (identity: string) => {
    const left = new AbortController();
    const messages = slots.held(identity, left.signal, counting(left.signal))[Symbol.asyncIterator]();
    await messages.next();
    return { left, messages };
  };
  const [first, second] = [await open("a"), await open("a")];
  await assert.rejects(open("a"), isFull);
  const third = await open("b");
  await assert.rejects(open("c"), isFull);
  // A stream that is aborted frees its slot, even when nothing reads its messages any more.
  first.left.abort();
  const fourth = await open("c");
  await assert.rejects(open("a"), isFull);
  await second.messages.return?.(undefined);
  const fifth = await open("a");
  await assert.rejects(open("d"), isFull);
  for (const { left } of [second, third, fourth, fifth]) left.abort();
  for (const identity of ["a", "a", "b"]) await open(identity).then(({ left }) => left.abort());
});
