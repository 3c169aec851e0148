import assert from "node:assert/strict";
import { test } from "node:test";
import type { DetachRegistryUpstreamResponse, RegistryUpstream } from "../../../api/gen/registry.ts";
import {
  copyFault,
  followWords,
  howItAnswers,
  lengthWords,
  missingWords,
  rateWords,
  stayingWords,
} from "./upstream-words.ts";

const upstream = (fields: Partial<RegistryUpstream>): RegistryUpstream =>
  ({ disabled: false, lastError: "", ...fields }) as RegistryUpstream;

const [EARLY, LATE] = ["2026-11-27T12:00:00Z", "2026-11-27T13:00:00Z"];

test("a registry answers only when it answered last, and one that was never asked is not well", () => {
  const words = [
    upstream({}),
    upstream({ lastSuccessTime: EARLY }),
    upstream({ lastSuccessTime: EARLY, lastError: "500", lastErrorTime: LATE }),
    upstream({ lastError: "500", lastErrorTime: EARLY }),
    upstream({ lastSuccessTime: LATE, lastError: "500", lastErrorTime: EARLY }),
    upstream({ lastSuccessTime: EARLY, lastError: "500", lastErrorTime: LATE, disabled: true }),
  ].map((each) => howItAnswers(each).word);
  assert.deepEqual(words, ["Not asked yet", "Answers", "Failing", "Failing", "Answers", "Off"]);
  assert.equal(howItAnswers(upstream({ lastError: "429", lastErrorTime: LATE })).detail, "429");
});

test("what a registry did not say of its limit is not a zero", () => {
  assert.equal(rateWords(upstream({})), "not stated");
  assert.equal(rateWords(upstream({ rate: { limit: 1200, remaining: 0 } })), "0 of 1,200");
});

test("what is followed and what of it is missing, and that this is not known before a turn", () => {
  const follow = { repoPattern: "acme/.*", tagPattern: "", exact: false };
  assert.equal(followWords(upstream({})), "nothing");
  assert.equal(followWords(upstream({ follow })), "images matching acme/.*, all tags");
  const followState = {
    state: "SYNC_STATE_FAILED",
    message: "",
    consecutiveFailures: 1,
    repositories: "1",
    missingRepositories: "1",
    tags: "1200",
    missingTags: "0",
    heldDeletions: "0",
  } as const;
  assert.equal(missingWords(upstream({})), "");
  assert.deepEqual(
    [upstream({}), upstream({ followState }), upstream({ followState, disabled: true })].map(copyFault),
    ["", "Copying failed", ""],
  );
  assert.equal(missingWords(upstream({ followState })), "not known yet");
  assert.equal(
    missingWords(upstream({ followState: { ...followState, lastAttemptTime: EARLY } })),
    "1 of 1 image, 0 of 1,200 tags",
  );
});

test("durations are facts, and what holds without them is said", () => {
  assert.deepEqual(
    ["3600s", "90s", "172800s", undefined].map((each) => lengthWords(each, "never")),
    ["1 hour", "90 seconds", "2 days", "never"],
  );
});

test("a detach says what stays, and of what is followed what did not come", () => {
  const stays: DetachRegistryUpstreamResponse = {
    uid: "",
    registry: "docker.io",
    repos: "1",
    tags: "20",
    staleTags: "3",
  };
  assert.deepEqual(stayingWords(stays), [
    ["Stays", "1 image with 20 tags"],
    ["May be behind", "3 tags, not compared with the registry within the time to live"],
  ]);
  assert.deepEqual(stayingWords({ ...stays, missingRepositories: "2", missingTags: "1", late: "7300s" }).slice(2), [
    ["Did not come", "2 images, 1 tag"],
    ["Last complete turn began", "2 hours ago"],
  ]);
});
