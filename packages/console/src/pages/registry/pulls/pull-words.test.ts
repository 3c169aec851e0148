import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListPullsResponse } from "../../../api/gen/registry.ts";
import { isDaysWhole, pullWords, seenPulls, sumOfPulls } from "./pull-words.ts";

const DAYS = ["2026-11-26", "2026-11-27"];
const answer = (fields: Partial<ListPullsResponse>): ListPullsResponse =>
  ({
    pulls: [{ repoUid: "a", tag: "1.0", count: "1200", lastTime: "2026-11-27T01:00:00Z" }],
    coverage: { since: "2026-01-01T00:00:00Z", lossyDays: [], lossyDayCount: 0 },
    nextPageToken: "",
    leftOutRepoUids: [],
    csv: "",
    ...fields,
  }) as unknown as ListPullsResponse;
const text = (fields: Partial<ListPullsResponse>, tag: string): string => {
  const said = answer(fields);
  return pullWords(seenPulls(said, "tag", tag, isDaysWhole(said, DAYS))).text;
};

test("a row that is missing is a 0 only where all pulls were counted and the answer would have it", () => {
  assert.equal(text({}, "1.0"), "1,200");
  assert.equal(text({}, "2.0"), "0");
  const since = { coverage: { since: "2026-11-26T12:00:00Z", lossyDays: [], lossyDayCount: 0 } };
  assert.equal(text(since, "1.0"), "1,200+");
  assert.equal(text(since, "2.0"), "–");
  const lossy = { coverage: { since: "2026-01-01T00:00:00Z", lossyDays: ["2026-11-27"], lossyDayCount: 1 } };
  assert.equal(text(lossy, "2.0"), "–");
  assert.equal(text({ nextPageToken: "more" }, "2.0"), "–", "it may be on the next page");
  assert.equal(text({ nextPageToken: "more" }, "0.9"), "0");
});

test("what is not counted or may not be seen is no 0, and says why", () => {
  const none = answer({ coverage: { lossyDays: [], lossyDayCount: 0 } });
  assert.deepEqual(pullWords(seenPulls(none, "tag", "1.0", false)), { text: "–", title: "Pulls are not counted here" });
  const hidden = answer({ leftOutRepoUids: ["b"] });
  assert.equal(pullWords(seenPulls(hidden, "repoUid", "b", true)).text, "–");
  assert.equal(pullWords(undefined).text, "…");
});

test("names of one digest are pulled as often as all of them; what is not known of one makes it the least", () => {
  const word = (...all: Parameters<typeof sumOfPulls>[0]): string => pullWords(sumOfPulls(all)).text;
  assert.equal(word({ count: 2 }, { count: 3 }), "5");
  assert.equal(word({ count: 2 }, { count: 3, isAtLeast: true }), "5+");
  assert.equal(word({ why: "lost" }, { count: 3 }), "3+");
  assert.equal(word({ count: 0 }, { why: "lost" }), "–", "a 0 and what is not known are no 0");
  assert.equal(word({ count: 0 }, { count: 0 }), "0");
  assert.equal(word({ count: 2 }, undefined), "…");
});
