import assert from "node:assert/strict";
import { test } from "node:test";
import { inLayer, layerNote, layerOptions } from "./layer-filter.ts";

const A = `sha256:${"a".repeat(64)}`;
const B = `sha256:${"b".repeat(64)}`;
const layer = (digest: string, command = "") => ({ digest, size: 1024, command });

test("a layer lets through what is in it, and counts what is in no known one", () => {
  const rows = [{ layers: [A] }, { layers: [B, A] }, { layers: [B] }, { layers: [] }];
  assert.deepEqual(
    inLayer(rows, A, (row) => row),
    { rows: rows.slice(0, 2), unplaced: 1 },
  );
  assert.deepEqual(
    inLayer(rows, undefined, (row) => row),
    { rows, unplaced: 0 },
  );
});

test("layers are chosen by their place, size and command, equal ones once", () => {
  const options = layerOptions([layer(A, "RUN make"), layer(B), layer(A, "x".repeat(60))]);
  assert.deepEqual(options, [
    [A, "1 of 3, 1.00 KiB, RUN make"],
    [B, "2 of 3, 1.00 KiB"],
  ]);
});

test("what the filter leaves open is said", () => {
  const asked = { layer: A, known: [B], unplaced: 0, word: "package" };
  assert.match(layerNote(asked), /^This image has no layer .*a/);
  assert.equal(layerNote({ ...asked, known: undefined }), "", "while the manifest is read nothing is known");
  assert.equal(
    layerNote({ ...asked, known: [A], unplaced: 2, readOnly: 400 }),
    "2 packages left out: it is not known in which layer. Only the first 400 packages were read and filtered.",
  );
  assert.equal(layerNote({ ...asked, layer: undefined, unplaced: 2 }), "");
});
