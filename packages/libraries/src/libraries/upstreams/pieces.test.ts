import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import "../ecosystems.ts";
import { metadataDocument } from "../maven/tasks.ts";
import type { MetadataKind } from "../maven/upstream-metadata.ts";
import { divided, type DocumentInput, entryIn, pieceOf, wholeOf } from "./pieces.ts";
import { readDocument } from "./read-document.ts";

const CONTEXT = { headers: {}, url: "https://repo.example/", nowMs: 5_000 } as const;
const ARGS = { groupId: "org.example", artifactId: "app" };

function metadata(versions: number): Buffer {
  const list = Array.from({ length: versions }, (_, at) => `<version>1.${at}</version>`).join("");
  return Buffer.from(`<metadata><versioning><versions>${list}</versions></versioning></metadata>`);
}

test("an entry is in the piece of its key, and all of them are whole again in their order", async () => {
  const entries = Array.from({ length: 1_000 }, (_, at): [string, object] => [`key-${at}`, { at }]);
  const pieces = divided(entries, 1_000_000).map((piece) => gzipSync(piece));
  assert.equal(pieces.length, 11);
  const piece = pieces[pieceOf("key-77", pieces.length)];
  assert.ok(piece !== undefined);
  assert.deepEqual(await entryIn(piece, "key-77"), { at: 77 });
  assert.equal(await entryIn(piece, "none"), undefined);
});

test("a document is divided when it is large, and the next one knows what it said", async () => {
  const about = { kind: metadataDocument.name, args: ARGS, ...CONTEXT } as const;
  const small = await readDocument({ ...about, bytes: metadata(3), previous: undefined });
  assert.equal(small.pieces, undefined);
  const large = await readDocument({ ...about, bytes: metadata(10_000), previous: undefined });
  assert.ok(large.pieces !== undefined && large.pieces.length > 1 && large.value === undefined);
  const kept: DocumentInput<MetadataKind> = {
    kind: metadataDocument.name,
    head: { release: "", updateMs: 0, plugins: [] },
    pieces: large.pieces,
  };
  const whole = await wholeOf(kept);
  assert.deepEqual(
    [whole.versions.length, whole.versions[0], whole.versions.at(-1)],
    [10_000, ["1.0", 5_000], ["1.9999", 5_000]],
  );
  const next = await readDocument({ ...about, nowMs: 9_000, bytes: metadata(10_001), previous: kept });
  const again = await wholeOf({ ...kept, pieces: next.pieces ?? [] });
  assert.deepEqual(again.versions.slice(-2), [
    ["1.9999", 5_000],
    ["1.10000", 9_000],
  ]);
});
