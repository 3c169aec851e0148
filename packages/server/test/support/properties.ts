import assert from "node:assert/strict";
import fc from "fast-check";
import { type Answer, blamed, DIGEST, type Platform, reason } from "./platform.ts";
import { sized } from "./extent.ts";

export const LISTS = [
  "/iam/v2/groups",
  "/iam/v2/identities",
  "/iam/v2/roles",
  "/iam/v2/roleBindings",
  "/registry/v2/repos",
  "/registry/v2/tags",
];

/** Text of any characters. */
export const text = fc.string({ unit: "binary", maxLength: 40 });

/**
 * A part of a path or of a query as it stands in a request: percent-encodings, valid and invalid, and text close to the
 * API's own names.
 */
export const bite = fc.oneof(
  fc.constantFrom(
    "%",
    "%2",
    "%zz",
    "%00",
    "%2F",
    "%2f",
    "%c3%28",
    "%ff",
    "/",
    "//",
    ".",
    "..",
    ":",
    ";",
    "*",
    "**",
    "{uid}",
    "~",
    "!$&'()",
    "@",
    "%25",
    "%E2%82%AC",
  ),
  fc.constantFrom("v2", "size", "digests", "readme", DIGEST),
  fc.string({ unit: fc.constantFrom(..."abcdef0123456789/%:.-_~=,"), maxLength: 60 }),
  text.map((each) => encodeURIComponent(each)).filter((each) => each !== ""),
);

const HTTP: Record<number, number[]> = { 3: [400], 5: [404], 6: [409], 7: [403], 9: [400], 12: [405, 501], 16: [401] };

/**
 * Asserts that the answer is 200, or an AIP-193 error whose status fits its code and which names its field when it is
 * INVALID_ARGUMENT.
 */
export function checkAnswer(answer: Answer): Answer {
  const { status, body, text } = answer;
  assert.ok(status < 500, `${status} ${text}`);
  if (status === 200) return answer;
  assert.ok(HTTP[body.code]?.includes(status), `${status} ${text}`);
  assert.equal(
    body.details.filter((detail) => detail["@type"] === "type.googleapis.com/google.rpc.ErrorInfo").length,
    1,
    text,
  );
  assert.ok(body.message.length > 0 && body.message.length < 10_000, text);
  if (body.code === 3) {
    assert.equal(reason(answer), "INVALID_ARGUMENT");
    const fields = blamed(answer);
    assert.ok(fields.length > 0 && fields.every((field) => field.length > 0), text);
    assert.ok(body.message.startsWith(`Invalid argument: ${fields[0]}: `), text);
  }
  return answer;
}

/** Checks that many arbitrary values, one after the other. */
export async function property<T>(
  arbitrary: fc.Arbitrary<T>,
  run: (value: T) => Promise<void>,
  numRuns = sized(60, 150),
): Promise<void> {
  await fc.assert(fc.asyncProperty(arbitrary, run), { numRuns });
}

/** A running server with data that must not be lost. */
export interface Stage {
  group: string;
  repo: string;
  token: string;
}

export async function openStage(platform: Platform): Promise<Stage> {
  const { uid: group } = await platform.group(platform.organization);
  const { uid: repo } = await platform.repo(group);
  for (let at = 0; at < 5; at++) await platform.tag(repo);
  return { group, repo, token: await platform.token() };
}

/** Asserts that the server runs and still has the data. */
export async function checkStage(platform: Platform, { repo }: Stage): Promise<void> {
  assert.deepEqual(await platform.ok("GET", "/ping/v2/ping"), { response: "pong" });
  assert.equal((await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo}`)).totalCount, "5");
}
