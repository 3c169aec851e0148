import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  ADVISORIES,
  ADVISORY_EVENTS,
  type AdvisoryJson,
  type EventJson,
  holderOf,
  listed,
  newAdvisory,
} from "../../../server/test/support/advisories.ts";
import { type Answer, blamed, type Platform, reason, startPlatform } from "../../../server/test/support/platform.ts";

// Events are written by authors and reviewed by reviewers; the latest that was approved is what holds.
interface Who {
  uid: string;
  token: string;
}
let platform: Platform;
let group: string;
let author: Who;
let reviewer: Who;
before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization)).uid;
  const capabilities = ["CAP_ADVISORIES_LIST", "CAP_ADVISORIES_CREATE", "CAP_ADVISORIES_UPDATE"];
  author = await holderOf(platform, group, capabilities);
  reviewer = await holderOf(platform, group, [...capabilities, "CAP_ADVISORIES_APPROVE"]);
});
after(() => platform.close());

const FIXED = { fixed: { fixedVersion: "2.0" } };
const add = (who: Who, advisory: string, body: object): Promise<Answer> =>
  platform.call("POST", `${ADVISORIES}/${advisory}/events`, { token: who.token, body });
const change = (who: Who, event: string, body: object, mask = ""): Promise<Answer> =>
  platform.call("PATCH", `${ADVISORY_EVENTS}/${event}${mask}`, { token: who.token, body });
const event = ({ body, status, text }: Answer): EventJson => {
  assert.equal(status, 200, text);
  return body as object as EventJson;
};
const denied = (answer: Answer): void =>
  assert.deepEqual(
    [answer.status, reason(answer), answer.body.details[0]?.metadata?.["missing"]],
    [403, "PERMISSION_DENIED", "CAP_ADVISORIES_APPROVE"],
    answer.text,
  );
const latest = async (advisory: string, type: string): Promise<boolean> =>
  (await listed(platform, `uidp.ids=${advisory}&latestEventType=${type}`)).length === 1;

test("an author's events wait; a reviewer says what becomes of them, and stands beside it", async () => {
  const { uid } = await newAdvisory(platform, group);
  const waiting = event(await add(author, uid, FIXED));
  assert.deepEqual([waiting.reviewState, waiting.author, waiting.reviewer], ["REVIEW_STATE_PENDING", author.uid, ""]);
  assert.equal(waiting.reviewTime, undefined);
  for (const reviewState of ["APPROVED", "REQUEST_CHANGES", "REJECTED"]) {
    denied(await add(author, uid, { ...FIXED, reviewState }));
    denied(await change(author, waiting.uid, { reviewState }));
    denied(
      await platform.call("POST", `${ADVISORIES}/${group}`, {
        token: author.token,
        body: { artifactName: "denied", aliases: ["CVE-1"], events: [{ ...FIXED, reviewState }] },
      }),
    );
  }
  assert.equal(await latest(uid, "FIXED"), false);
  const asked = event(await change(reviewer, waiting.uid, { reviewState: "REQUEST_CHANGES" }));
  assert.deepEqual([asked.reviewState, asked.reviewer], ["REVIEW_STATE_REQUEST_CHANGES", reviewer.uid]);
  assert.ok(asked.reviewTime);
  // What the author changes waits for another review.
  const again = event(
    await change(author, waiting.uid, { fixed: { fixedVersion: "2.1" }, issue: "https://i.example/1" }),
  );
  assert.deepEqual(
    [again.reviewState, again.reviewer, again.reviewTime, again["fixed"]],
    [
      "REVIEW_STATE_PENDING",
      "",
      undefined,
      { fixedVersion: "2.1", note: "", scannerVersion: "", grypeDbBuilt: "", grypeDbChecksum: "" },
    ],
  );
  const approved = event(await change(reviewer, waiting.uid, { reviewState: "APPROVED" }, "?updateMask=reviewState"));
  assert.deepEqual(
    [approved.reviewState, approved.reviewer, approved.author],
    ["REVIEW_STATE_APPROVED", reviewer.uid, author.uid],
  );
  assert.equal(await latest(uid, "FIXED"), true);
  const { events } = (await platform.ok("GET", `${ADVISORIES}/${uid}`)) as AdvisoryJson;
  assert.deepEqual(events, [approved]);
});

test("what was approved or rejected is not changed, and only a reviewer takes a review back", async () => {
  const { uid } = await newAdvisory(platform, group);
  const made = event(await add(author, uid, FIXED));
  for (const reviewState of ["APPROVED", "REJECTED"]) {
    event(await change(reviewer, made.uid, { reviewState }));
    for (const body of [
      { fixed: { fixedVersion: "3" } },
      { issue: "x" },
      { findings: "YQ==" },
      { fixNotPlanned: {} },
    ]) {
      const answer = await change(reviewer, made.uid, body);
      const types = answer.body.details.flatMap(({ violations = [] }) => violations).map(({ type }) => type);
      assert.deepEqual([answer.status, types], [400, ["EVENT_REVIEWED"]], JSON.stringify(body));
    }
    denied(await change(author, made.uid, { reviewState: "PENDING" }));
    // What stays the same is no change.
    assert.equal(event(await change(author, made.uid, FIXED)).reviewState, `REVIEW_STATE_${reviewState}`);
    assert.equal(await latest(uid, "FIXED"), reviewState === "APPROVED");
  }
  assert.equal(event(await change(reviewer, made.uid, { reviewState: "PENDING" })).reviewer, "");
  for (const reviewState of ["UNSPECIFIED", 0])
    assert.deepEqual(blamed(await change(reviewer, made.uid, { reviewState })), ["reviewState"]);
  assert.deepEqual(blamed(await change(author, made.uid, {}, "?updateMask=fixed")), ["type"]);
  assert.deepEqual(blamed(await change(author, made.uid, {}, "?updateMask=author")), ["updateMask"]);
});

test("a reviewer may review what it wrote, when it writes it too", async () => {
  const { uid } = await newAdvisory(platform, group);
  const own = event(await add(reviewer, uid, { ...FIXED, reviewState: "APPROVED" }));
  assert.deepEqual([own.author, own.reviewer, own.reviewState], [reviewer.uid, reviewer.uid, "REVIEW_STATE_APPROVED"]);
  assert.equal(await latest(uid, "FIXED"), true);
  // One who may review and not update only looks on.
  const looker = await holderOf(platform, group, ["CAP_ADVISORIES_LIST", "CAP_ADVISORIES_APPROVE"]);
  assert.equal((await change(looker, own.uid, { reviewState: "REJECTED" })).status, 403);
});

test("the latest approved event holds, whenever it was approved", async () => {
  const { uid } = await newAdvisory(platform, group);
  const first = event(await add(reviewer, uid, { detection: { manual: {} }, reviewState: "APPROVED" }));
  const second = event(await add(author, uid, { fixNotPlanned: { note: "small" } }));
  const third = event(await add(author, uid, FIXED));
  assert.ok(first.createTime < second.createTime && second.createTime < third.createTime);
  assert.equal(await latest(uid, "DETECTION"), true);
  event(await change(reviewer, third.uid, { reviewState: "APPROVED" }));
  event(await change(reviewer, second.uid, { reviewState: "APPROVED" }));
  assert.equal(await latest(uid, "FIXED"), true, "the order is that of their making");
  event(await change(reviewer, third.uid, { reviewState: "REJECTED" }));
  assert.equal(await latest(uid, "FIX_NOT_PLANNED"), true);
  const { advisoryEvents: page, nextPageToken } = (await platform.ok(
    "GET",
    `${ADVISORIES}/${uid}/events?page_size=2&order_by=createTime%20desc`,
  )) as object as { advisoryEvents: EventJson[]; nextPageToken: string };
  assert.deepEqual(
    page.map((each) => each.uid),
    [third.uid, second.uid],
  );
  const rest = await platform.ok("GET", `${ADVISORIES}/${uid}/events?page_token=${nextPageToken}`);
  assert.deepEqual(
    (rest["advisoryEvents"] as EventJson[]).map((each) => each.uid),
    [first.uid],
  );
});

test("an advisory has at most 100 events, and 64 KiB of them", async () => {
  const tooMany = (answer: Answer): void => {
    const types = answer.body.details.flatMap(({ violations = [] }) => violations).map(({ type }) => type);
    assert.deepEqual([answer.status, types], [400, ["TOO_MANY_EVENTS"]], answer.text);
  };
  const { uid } = await newAdvisory(platform, group, { events: Array.from({ length: 20 }, () => ({ detection: {} })) });
  for (let at = 20; at < 100; at++) event(await add(author, uid, { detection: {} }));
  tooMany(await add(author, uid, { detection: {} }));
  const long = { fixNotPlanned: { note: "n".repeat(2048) } };
  const { uid: other, events } = await newAdvisory(platform, group, { events: Array.from({ length: 20 }, () => long) });
  let answer: Answer;
  do answer = await add(author, other, long);
  while (answer.status === 200);
  tooMany(answer);
  // A change is counted as well.
  event(await add(author, other, { detection: {} }));
  const { events: all } = (await platform.ok("GET", `${ADVISORIES}/${other}`)) as AdvisoryJson;
  tooMany(
    await change(author, all.at(-1)?.uid ?? "", {
      detection: { scanv1: { componentLocation: "l".repeat(1024) } },
      issue: "i".repeat(1024),
    }),
  );
  event(await change(author, events[0]?.uid ?? "", { fixNotPlanned: { note: "m".repeat(2048) } }));
  event(await change(author, events[0]?.uid ?? "", { fixNotPlanned: { note: "short" } }));
  event(await add(author, other, { fixNotPlanned: { note: "n".repeat(1024) } }));
});

test("authors that write and reviewers that review together lose nothing", async () => {
  const { uid } = await newAdvisory(platform, group);
  const added = await Promise.all(Array.from({ length: 12 }, () => add(author, uid, FIXED)));
  const uids = added.map((answer) => event(answer).uid);
  await Promise.all(
    uids.map((each, at) => change(reviewer, each, { reviewState: at === 3 ? "APPROVED" : "REJECTED" })),
  );
  const { events } = (await platform.ok("GET", `${ADVISORIES}/${uid}`)) as AdvisoryJson;
  assert.equal(new Set(events.map(({ createTime }) => createTime)).size, 12);
  assert.equal(await latest(uid, "FIXED"), true);
  // Of two that make the same advisory together, one does.
  const body = { artifactName: "together", aliases: ["CVE-3"] };
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => platform.call("POST", `${ADVISORIES}/${group}`, { token: author.token, body })),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409, 409, 409]);
});
