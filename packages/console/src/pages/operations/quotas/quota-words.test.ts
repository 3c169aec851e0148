import assert from "node:assert/strict";
import { test } from "node:test";
import type { Quota } from "../../../api/gen/registry.ts";
import { partsWords, useOf, useWords, whyWords } from "./quota-words.ts";

const quota = (fields: Partial<Quota>): Quota => ({
  uid: "g",
  softPercent: 0,
  state: "QUOTA_STATE_OK",
  used: { bytes: "900", repos: "1", tags: "4", libraries: "0" },
  ...fields,
});

test("what is used stands beside its limit, and warns from 80 % on where nothing else is set", () => {
  const near = quota({ bytes: "1000", repos: "2" });
  assert.equal(useOf(near, "bytes").look, "warning");
  assert.equal(useOf(near, "repos").look, "plain");
  assert.equal(useOf({ ...near, softPercent: 95 }, "bytes").look, "plain");
  assert.equal(useWords("bytes", useOf(near, "bytes")), "900 B of 1000 B");
  assert.equal(useWords("tags", useOf(near, "tags")), "4, no limit");
});

test("a limit of 0 allows none", () => {
  assert.equal(useOf(quota({ libraries: "0" }), "libraries").look, "danger");
});

test("what is being counted is not known, and is not 0", () => {
  const counting = quota({
    bytes: "1024",
    state: "QUOTA_STATE_COUNTING",
    used: { repos: "1", tags: "4", libraries: "0" },
  });
  assert.equal(useOf(counting, "bytes").part, undefined);
  assert.equal(useWords("bytes", useOf(counting, "bytes")), "being counted, of 1.00 KiB");
  assert.match(whyWords(counting), /Storage is not limited/);
});

test("the reason of a state is said", () => {
  assert.match(whyWords(quota({ bytes: "1000", repos: "1", state: "QUOTA_STATE_EXCEEDED" })), /^Images: nothing more/);
  assert.match(whyWords(quota({ bytes: "9000", state: "QUOTA_STATE_EXCEEDED" })), /^Something was denied/);
  assert.match(whyWords(quota({ bytes: "1000", state: "QUOTA_STATE_WARNED" })), /^Storage: 80 %/);
  assert.match(whyWords(quota({ repos: "1", state: "QUOTA_STATE_WARNED" })), /^Images: the limit is reached/);
  assert.equal(whyWords(quota({})), "");
});

test("what of the storage is not in use is said, and what was not measured is not 0", () => {
  const counts = { bytes: "900", repos: "1", tags: "4", libraries: "0" };
  assert.equal(partsWords(quota({})), "");
  const measureTime = "2026-11-01T00:00:00Z";
  const parts = { historyBytes: "0", cachedBytes: "0", pendingBytes: "0" };
  assert.equal(partsWords(quota({ used: { ...counts, measureTime, ...parts } })), "");
  assert.equal(
    partsWords(quota({ used: { ...counts, measureTime, ...parts, historyBytes: "2048", pendingBytes: "10" } })),
    "2.00 KiB history, 10 B being uploaded",
  );
  assert.equal(
    partsWords(quota({ used: { ...counts, measureTime, pendingBytes: "0" } })),
    "history not known, cached not known",
  );
});
