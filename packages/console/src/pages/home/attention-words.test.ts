import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attention, AttentionGap, AttentionKind, AttentionSubject } from "../../api/gen/operations.ts";
import { attentionGaps, attentionRows } from "./attention-words.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const NOTHING = { count: "0", atLeast: false, images: "0", pulls: "0", subjects: [], gaps: [] };
const item = (kind: string, fields: Partial<Attention> = {}): Attention => ({
  ...NOTHING,
  kind: `ATTENTION_KIND_${kind}` as AttentionKind,
  ...fields,
});
const subject = (fields: Partial<AttentionSubject>): AttentionSubject => ({
  uid: "org/one",
  name: "one",
  detail: "",
  count: "1",
  ...fields,
});
const gap = (reason: string, fields: Partial<AttentionGap> = {}): AttentionGap =>
  ({ reason: `ATTENTION_GAP_REASON_${reason}`, count: "0", atLeast: false, missing: [], ...fields }) as AttentionGap;

test("a row says what it is, what it is about, and leads to one or to all of them", () => {
  const rows = attentionRows(
    [
      item("EXPLOITED", { count: "1", images: "3", pulls: "3500", subjects: [subject({ name: "CVE-2026-1" })] }),
      item("MIRROR", { count: "2", subjects: [subject({ detail: "it answers 429" }), subject({ name: "two" })] }),
      item("REPLICATION"),
      item("DELIVERY", {
        count: "18",
        subjects: [subject({ name: "https://hooks.example.com/x", detail: "410", count: "18" })],
      }),
      item("TOKEN", { count: "1", subjects: [subject({ name: "laptop", time: "2026-12-01T13:00:00Z" })] }),
      item("QUOTA_WARNED", { count: "1001", atLeast: true, subjects: [subject({}), subject({}), subject({})] }),
    ],
    NOW,
  );
  assert.deepEqual(
    rows.map(({ title, line, link }) => [title, line, link?.href]),
    [
      [
        "Exploited vulnerability in 3 images",
        "CVE-2026-1 · 3,500 pulls since yesterday",
        "/vulnerability?id=CVE-2026-1",
      ],
      ["2 mirrors fail", "one, two", "/images/mirrors"],
      ["18 deliveries could not be sent", "hooks.example.com/x · 410", "/events/subscription?uid=org%2Fone"],
      ["A token ends in 3 days", "laptop", "/profile/tokens"],
      ["At least 1,001 quotas are nearly used up", "one, one, one and 998 more", "/operations/quotas"],
    ],
  );
});

test("what was not looked at is said with why and how much", () => {
  const { kinds, sentences } = attentionGaps([
    item("EXPLOITED", { gaps: [gap("UNKNOWN_IMAGES", { count: "2" }), gap("WAITING")] }),
    item("MIRROR"),
    item("DELIVERY", { gaps: [gap("PERMISSION", { missing: ["CAP_EVENTS_SUBSCRIPTION_LIST"] })] }),
  ]);
  assert.equal(kinds, 2);
  assert.deepEqual(sentences, [
    "Exploited vulnerabilities in what is pulled: findings of 2 images are not known",
    "Exploited vulnerabilities in what is pulled: images wait to be compared with the feeds",
    "Deliveries of webhooks: you need CAP_EVENTS_SUBSCRIPTION_LIST",
  ]);
});
