import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListDownloadsResponse } from "../../api/gen/libraries.ts";
import { pullWords } from "../registry/pulls/pull-words.ts";
import { seenDownloads } from "./download-words.ts";

const answer = (fields: Partial<ListDownloadsResponse> = {}): ListDownloadsResponse =>
  ({
    downloads: [
      { uid: "a", count: "1200", lastTime: "2026-11-27T01:00:00Z" },
      { uid: "old", count: "0", lastTime: "2026-01-02T01:00:00Z" },
    ],
    coverage: { since: "2026-01-01T00:00:00Z", lossyDays: [], lossyDayCount: 0 },
    nextPageToken: "",
    leftOutUids: ["hidden"],
    uncountedUids: ["pom"],
    ...fields,
  }) as unknown as ListDownloadsResponse;
const text = (uid: string, isWhole = true, fields = {}): string =>
  pullWords(seenDownloads(answer(fields), uid, isWhole)).text;

test("a package without a row is a 0 only where all its downloads were counted and would be in the answer", () => {
  assert.deepEqual([text("a"), text("old"), text("never")], ["1,200", "0", "0"]);
  assert.deepEqual([text("a", false), text("old", false), text("never", false)], ["1,200+", "–", "–"]);
  assert.deepEqual([text("hidden"), text("pom")], ["–", "–"]);
  assert.equal(text("never", true, { nextPageToken: "more" }), "–");
  assert.equal(text("a", true, { coverage: { lossyDays: [], lossyDayCount: 0 } }), "–", "nothing is counted");
});

test("the last download is known although those of the last days are not", () => {
  assert.equal(seenDownloads(answer(), "old", false).lastTime, "2026-01-02T01:00:00Z");
});
