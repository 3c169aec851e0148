import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { type Tag, TagListSchema, TagSchema } from "@moorage/api/v1/registry";
import { type Streamed, streamed } from "@moorage/kernel/core/streamed-answer";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { listEncoder } from "./encoded-list.ts";

const PART = 100;

function listOf(parts: number): Streamed {
  async function* made(): AsyncGenerator<readonly Tag[], void, undefined> {
    for (let at = 0; at < parts; at++)
      yield Array.from({ length: PART }, (_, index) => create(TagSchema, { id: `${at}/${index}`, name: "v1" }));
  }
  return streamed(TagListSchema, made());
}

test("the pieces of a list are the bytes of its message", async () => {
  const { pieces, size } = await listEncoder()(listOf(3));
  const bytes = Buffer.concat(pieces);
  assert.equal(bytes.length, size);
  const { items } = fromBinary(TagListSchema, bytes);
  assert.equal(items.length, 3 * PART);
  assert.equal(items.at(-1)?.id, `2/${PART - 1}`);
});

test("lists together take no more than their bound, until they are sent", async () => {
  const encode = listEncoder(3 * PART * 20);
  const first = await encode(listOf(3));
  await assert.rejects(
    encode(listOf(3)),
    (error) => error instanceof MoorageError && error.code === Code.ResourceExhausted,
  );
  first.release();
  const again = await encode(listOf(3));
  again.release();
  await assert.rejects(encode(listOf(100)), /Resource exhausted/);
  (await encode(listOf(3))).release();
});
