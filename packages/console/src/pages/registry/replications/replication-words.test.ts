import assert from "node:assert/strict";
import { test } from "node:test";
import type { Replication, ReplicationState } from "../../../api/gen/registry.ts";
import { howFar, itemWord, itemWords, lateWords, matchWords, whenWords } from "./replication-words.ts";

const NONE = { pending: "0", running: "0", failed: "0", blocked: "0", bytes: "0", lastError: "" };

const rule = (state: Partial<ReplicationState>, fields: Partial<Replication> = {}): Replication =>
  ({
    disabled: false,
    onPush: true,
    repoPattern: "",
    tagPattern: "",
    state: { ...NONE, ...state },
    ...fields,
  }) as Replication;

test("a replication is up to date only when nothing is left and something was pushed", () => {
  const lastSuccessTime = "2026-11-27T12:00:00Z";
  const words = [
    rule({ lastSuccessTime }),
    rule({}),
    rule({ lastSuccessTime, lastError: "no tag below the group matches the patterns, so that nothing is pushed" }),
    rule({ lastSuccessTime, failed: "1", pending: "2", lastError: "app:1: 500" }),
    rule({ lastSuccessTime, blocked: "1" }),
    rule({ lastSuccessTime, running: "1" }),
    rule({ lastSuccessTime, pending: "1", late: "5s" }),
    rule({ lastSuccessTime, pending: "1", late: "5s", lastError: "app:1: 500" }),
    rule({ lastSuccessTime, pending: "1" }),
    rule({ lastSuccessTime, lastError: "something new" }),
    rule({ lastSuccessTime }, { disabled: true }),
    { ...rule({}), state: undefined } as unknown as Replication,
  ].map((each) => howFar(each).word);
  assert.deepEqual(words, [
    "Up to date",
    "Nothing pushed yet",
    "Nothing matches",
    "Failed",
    "Blocked",
    "Pushing",
    "Waiting",
    "Retrying",
    "Stopped",
    "Problem",
    "Paused",
    "Not known",
  ]);
});

test("what is left is counted by why, and what was never compared says when it will be", () => {
  assert.equal(itemWords(rule({ pending: "3", failed: "1200" })), "3 waiting or stopped, 1,200 failed");
  assert.equal(itemWords(rule({})), "nothing so far");
  assert.equal(itemWords(rule({ lastSuccessTime: "2026-11-27T12:00:00Z" })), "nothing left");
  assert.match(howFar(rule({}, { onPush: false })).detail, /compared only when run manually/);
  assert.match(howFar(rule({})).detail, /compared soon/);
});

test("a replication says what it is about, when it pushes, and how late it is", () => {
  assert.equal(matchWords(rule({})), "all images, all tags");
  assert.equal(
    matchWords(rule({}, { repoPattern: "web", tagPattern: "v.*" })),
    "images matching web, tags matching v.*",
  );
  assert.equal(whenWords(rule({})), "when a tag moves");
  assert.equal(whenWords(rule({}, { interval: "3600s" })), "when a tag moves, all compared every hour");
  assert.equal(whenWords(rule({}, { onPush: false, interval: "7200s" })), "every 2 hours");
  assert.equal(whenWords(rule({}, { onPush: false })), "only when run manually");
  assert.deepEqual(
    ["5s", "90s", "7300s", "172900s"].map((late) => lateWords(rule({ late }))),
    ["", "1 minute", "2 hours", "2 days"],
  );
  assert.deepEqual(itemWord("REPLICATION_ITEM_STATE_NEWER" as never), ["Not known", "outline"]);
});
